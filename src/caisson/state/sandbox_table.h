#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/state/connection.h"
#include "caisson/state/retention.h"
#include "caisson/state/sandbox_record.h"
#include "caisson/state/statement.h"

namespace caisson::state {

// The rows of sandboxes and their labels. For Database, which brings the lock and, around all that writes, a
// transaction. Errors common to all: those of Connection::Failure.
class SandboxTable {
 public:
  static Result<SandboxTable> Prepare(const Connection& connection);

  // Errors: kAlreadyExists (the id, or the name of one that is not deleted).
  Status Insert(const SandboxRecord& record);
  // Errors: kNotFound.
  Result<SandboxRecord> Get(const SandboxId& id);
  Result<std::optional<SandboxRecord>> FindByName(std::string_view name);
  Result<std::vector<SandboxId>> FindByPrefix(std::string_view prefix, std::uint32_t limit);
  Result<SandboxPage> List(const SandboxFilter& filter);
  // Errors: kNotFound.
  Status Update(const SandboxId& id, const SandboxUpdate& update);
  // Errors: kNotFound; kConflict when the state is not `from`, with the detail `state`.
  Status ChangeState(const StateChange& change);
  // The number of the next command of a sandbox whose state is `state`. Errors: as ChangeState.
  Result<std::uint64_t> TakeStep(const SandboxId& id, std::string_view state, UnixMs at);
  // It did something: its idle time begins again.
  Status Touch(const SandboxId& id, UnixMs at);
  Result<std::map<std::string, std::uint64_t>> CountByState();
  // How many were forgotten; their labels and commands go with them.
  Result<std::uint64_t> ForgetDeleted(const Retention& retention);

 private:
  SandboxTable() = default;
  Status WriteLabels(const SandboxId& id, const std::map<std::string, std::string>& labels);
  Result<SandboxRecord> ReadRow(const Query& row);
  Error NotIn(const SandboxId& id, std::string_view state);

  Statement insert_;
  Statement insert_spec_;
  Statement insert_label_;
  Statement delete_labels_;
  Statement get_;
  Statement get_labels_;
  Statement by_name_;
  Statement by_prefix_;
  Statement list_;
  Statement list_state_;
  Statement update_;
  Statement change_state_;
  Statement take_step_;
  Statement touch_;
  Statement state_of_;
  Statement count_;
  Statement forget_;
};

}  // namespace caisson::state
