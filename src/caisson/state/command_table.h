#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/state/command_record.h"
#include "caisson/state/connection.h"
#include "caisson/state/retention.h"
#include "caisson/state/statement.h"

namespace caisson::state {

// The rows of commands. For Database, which brings the lock and, around all that writes, a transaction. Errors common
// to all: those of Connection::Failure.
class CommandTable {
 public:
  static Result<CommandTable> Prepare(const Connection& connection);

  Status Insert(const CommandRecord& record);
  // Errors: kNotFound.
  Result<CommandRecord> Get(std::string_view id);
  Result<std::vector<CommandRecord>> List(const SandboxId& sandbox, const CommandFilter& filter);
  // Without their results, which they do not have yet.
  Result<std::vector<CommandRecord>> NotEnded();
  Result<std::uint64_t> CountNotEnded(const SandboxId& sandbox);
  // Errors: kNotFound; kConflict, with the detail `state`, unless it is starting.
  Status Run(std::string_view id, std::string_view handle);
  // The sandbox it ran in. Errors: kNotFound; kConflict, with the detail `state`, when it has ended.
  Result<SandboxId> End(const CommandEnd& end);
  Result<bool> Has(std::string_view id);
  // What the output of all takes that have ended.
  Result<std::uint64_t> SpoolBytes();
  // Those that ended first.
  Result<std::vector<SpoolRecord>> OldestSpools(std::uint32_t limit);
  Status ForgetSpool(std::string_view id);
  // How many were forgotten.
  Result<std::uint64_t> ForgetEnded(const Retention& retention);

 private:
  CommandTable() = default;
  Error NotIn(std::string_view id, std::string_view wanted);

  Statement insert_;
  Statement get_;
  Statement list_;
  Statement list_with_results_;
  Statement not_ended_;
  Statement count_not_ended_;
  Statement run_;
  Statement end_;
  Statement state_of_;
  Statement forget_;
  Statement has_;
  Statement add_spool_;
  Statement spool_bytes_;
  Statement oldest_spools_;
  Statement forget_spool_;
};

}  // namespace caisson::state
