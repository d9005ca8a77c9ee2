#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/state/connection.h"
#include "caisson/state/idempotency_record.h"
#include "caisson/state/statement.h"

namespace caisson::state {

// The rows of keys of repeated requests. For Database, which brings the lock and, around all that writes, a
// transaction. Errors common to all: those of Connection::Failure.
class IdempotencyTable {
 public:
  static Result<IdempotencyTable> Prepare(const Connection& connection);

  // Errors: kConflict when the caller has used the key, with the detail `sandbox`.
  Status Insert(const IdempotencyRecord& record);
  Result<std::optional<IdempotencyRecord>> Find(std::string_view caller, std::string_view key);
  // The key that made this sandbox, if any.
  Status ForgetSandbox(const SandboxId& sandbox);
  // How many were forgotten.
  Result<std::uint64_t> ForgetOlderThan(UnixMs created_before);

 private:
  IdempotencyTable() = default;
  Statement insert_;
  Statement find_;
  Statement forget_sandbox_;
  Statement forget_;
};

}  // namespace caisson::state
