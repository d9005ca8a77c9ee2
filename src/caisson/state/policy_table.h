#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/state/connection.h"
#include "caisson/state/policy_record.h"
#include "caisson/state/statement.h"

namespace caisson::state {

// The rows of sandboxes' policies and of the uses of their rules; they go with the row of their sandbox. For Database,
// which brings the lock and, around all that writes, a transaction. Errors common to all: those of Connection::Failure.
class PolicyTable {
 public:
  static Result<PolicyTable> Prepare(const Connection& connection);

  // In place of the one that it has. Errors: kNotFound when there is no such sandbox.
  Status Set(const SandboxId& sandbox, const PolicyRecord& record);
  // How many were given it: those that have none.
  Result<std::uint64_t> GiveToAllWithout(const PolicyRecord& record);
  Result<std::optional<PolicyRecord>> Get(const SandboxId& sandbox);

  // How often a rule was used under the policy of this digest.
  Result<std::uint64_t> Used(const SandboxId& sandbox, std::string_view digest, std::string_view rule);
  // Counts the uses. False when a rule has fewer left: the transaction is to be undone then.
  Result<bool> Take(const SandboxId& sandbox, std::string_view digest, const std::vector<UseClaim>& claims);

 private:
  PolicyTable() = default;
  Statement set_;
  Statement give_;
  Statement get_;
  Statement used_;
  Statement take_;
};

}  // namespace caisson::state
