#include "caisson/sandbox/sandbox.h"

#include <chrono>

#include "caisson/backend/instance.h"
#include "caisson/sandbox/change_tracker.h"
#include "caisson/sandbox/command_request.h"
#include "caisson/sandbox/command_state.h"
#include "caisson/sandbox/command_verdict.h"
#include "caisson/storage/kept_record.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::sandbox {
Sandbox::Sandbox(std::unique_ptr<backend::Instance> instance, SandboxId id, Origin origin, int spool_directory)
    : instance_(std::move(instance)),
      changes_(std::make_unique<ChangeTracker>(instance_->layer())),
      id_(std::move(id)),
      origin_(std::move(origin)),
      spool_directory_(spool_directory) {}

Sandbox::~Sandbox() = default;

std::unique_ptr<Command::State> Sandbox::NewState(const CommandSpec& spec) const {
  auto state = std::make_unique<Command::State>();
  state->instance = instance_.get();
  state->start = std::chrono::steady_clock::now();
  state->timeout = spec.timeout;
  state->kept_output = spec.kept_output;
  state->spool = spec.spool;
  state->spool_directory = spool_directory_;
  state->is_terminal = spec.terminal.has_value();
  state->changes = changes_.get();
  if (spec.report_changes == ReportChanges::kYes) {
    state->span = changes_->Begin();
  } else {
    state->unasked.emplace(*changes_);
  }
  return state;
}

Status Sandbox::Check(const CommandSpec& spec) {
  if (auto request = MakeStartCommand(spec); !request) return Fail(std::move(request).error());
  return {};
}

Result<Command> Sandbox::Start(const CommandSpec& spec) {
  CAISSON_TRY(const proto::StartCommand request, MakeStartCommand(spec));
  auto state = NewState(spec);
  CAISSON_TRY(state->started, instance_->Start(request, spec.kernel_plan));
  if (state->started.error != 0) state->failed = ExplainStart(state->started);
  return Command(std::move(state));
}

Status Sandbox::Keep() {
  proto::KeptSandbox record = storage::NewKeptRecord(id_.text(), storage::UidBlocks::FirstId(instance_->slot()));
  record.set_image_directory(origin_.image_directory);
  record.set_workspace_directory(origin_.workspace_directory);
  return instance_->layer().Keep(record.SerializeAsString());
}

Status Sandbox::Destroy() { return instance_->Destroy(); }

}  // namespace caisson::sandbox
