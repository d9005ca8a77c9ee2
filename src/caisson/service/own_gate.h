#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "caisson/guard/gate.h"
#include "caisson/guard/program_source.h"
#include "caisson/guard/use_ledger.h"
#include "caisson/state/database.h"

namespace caisson::service {

// The uses of one sandbox's policy, in the database: they outlive the daemon. The database outlives it.
class RecordedUses : public guard::UseLedger {
 public:
  RecordedUses(state::Database& database, SandboxId sandbox, std::string digest)
      : database_(database), sandbox_(std::move(sandbox)), digest_(std::move(digest)) {}
  Result<std::uint32_t> Used(const std::string& rule) override;
  Result<bool> Take(const std::vector<Claim>& claims) override;

 private:
  state::Database& database_;
  SandboxId sandbox_;
  std::string digest_;
};

// The gate of one sandbox under the policy that is recorded, made when it is first asked for. Thread-safe, but for
// Forget.
class OwnGate {
 public:
  // `host_programs`: when the image is the host's; otherwise nullptr. Both outlive it.
  OwnGate(state::Database& database, guard::ProgramSource* host_programs, SandboxId sandbox)
      : database_(database), host_programs_(host_programs), sandbox_(std::move(sandbox)) {}

  // Borrowed until Forget. Errors: those of the database, of reading the policy again and of guard::Gate::Make.
  Result<guard::Gate*> Get();
  // What the sandbox's programs are asked for. Borrowed.
  guard::ProgramSource& programs() { return host_programs_ != nullptr ? *host_programs_ : own_programs_; }
  // Another policy is recorded. Nobody uses the gate meanwhile.
  void Forget();

 private:
  state::Database& database_;
  guard::ProgramSource* host_programs_;
  SandboxId sandbox_;
  guard::OwnPrograms own_programs_;
  std::mutex mutex_;
  std::unique_ptr<RecordedUses> uses_;
  std::unique_ptr<guard::Gate> gate_;  // ends before what it uses
};

}  // namespace caisson::service
