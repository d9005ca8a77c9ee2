// The part of Sandbox that only sandboxes that stay use.

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "caisson/backend/instance.h"
#include "caisson/sandbox/change_tracker.h"
#include "caisson/sandbox/command_request.h"
#include "caisson/sandbox/command_state.h"
#include "caisson/sandbox/command_verdict.h"
#include "caisson/sandbox/sandbox.h"
#include "caisson/sandbox/spooled_command.h"

namespace caisson::sandbox {
namespace {

using std::chrono::nanoseconds;

std::int64_t Nanoseconds(std::chrono::steady_clock::time_point time) {
  return nanoseconds(time.time_since_epoch()).count();
}

}  // namespace

Result<std::unique_ptr<Sandbox>> Sandbox::TakeOver(std::unique_ptr<backend::Instance> instance, SandboxId id,
                                                   int spool_directory, State state) {
  auto sandbox = std::make_unique<Sandbox>(std::move(instance), std::move(id), Origin{}, spool_directory);
  sandbox->is_frozen_ = state == State::kIsFrozen;
  sandbox->was_greeted_ = false;
  // Who changes files there, and since when, nobody knows.
  sandbox->changes_->ExpectChangesAlways();
  return sandbox;
}

Result<Sandbox::Spooled> Sandbox::StartSpooled(const CommandSpec& spec, const std::string& id, Input input,
                                               std::string_view stdin_bytes, OnCommandEnd on_end) {
  if (stdin_bytes.size() > kMaxFirstInput) {
    return Fail(Error(Code::kInvalidArgument, "the command's first input is longer than 1 MiB")
                    .Remedy("leave the input open and write the rest to it"));
  }
  CAISSON_TRY(const proto::StartCommand request, MakeStartCommand(spec));
  CAISSON_TRY(auto output, CommandOutput::Create(spool_directory_, id));
  auto state = NewState(spec);
  auto started = instance_->Start(request, spec.kernel_plan);
  if (!started) {
    CommandOutput::Remove(spool_directory_, id);
    return Fail(std::move(started).error());
  }
  state->started = *std::move(started);
  Spooled spooled;
  if (state->started.error != 0) {
    output->Finish();
    spooled.failed.emplace();
    spooled.failed->outcome = ExplainStart(state->started);
    spooled.failed->duration = std::chrono::steady_clock::now() - state->start;
    if (state->span) spooled.failed->files_changed.emplace();
    return spooled;
  }
  plan::ParkedCommand parked;
  id.copy(parked.id, sizeof parked.id - 1);
  parked.command = state->started.command;
  parked.start_ns = Nanoseconds(state->start);
  parked.deadline_ns = Nanoseconds(state->start + state->timeout);
  spooled.command = std::make_unique<SpooledCommand>(
      SpooledCommand::Begin{.state = std::move(state),
                            .output = std::move(output),
                            .parked = parked,
                            .first_input = std::string(stdin_bytes),
                            .after_first_input = input == Input::kOpen ? SpooledCommand::AfterFirst::kStaysOpen
                                                                       : SpooledCommand::AfterFirst::kCloses,
                            .on_end = std::move(on_end)});
  return spooled;
}

Result<std::vector<Sandbox::Survivor>> Sandbox::TakeCommands(Bytes kept_output, const OnEndOf& on_end_of) {
  CAISSON_TRY(auto parked, instance_->TakeParked());
  std::vector<Survivor> survivors;
  for (auto& [command, fds, leaf] : parked) {
    auto output = CommandOutput::Open(spool_directory_, command.id, CommandOutput::Command::kRunning);
    const std::size_t staged = command.staged_stream == 0 ? 0 : plan::kStageFds;
    if (!output || fds.size() < plan::kLeastParkedFds + staged || command.staged_stream > 2) {
      leaf.Kill();
      continue;
    }
    CommandSpec spec;
    spec.kept_output = kept_output;
    spec.report_changes = ReportChanges::kNo;
    auto state = NewState(spec);
    state->start = std::chrono::steady_clock::time_point(nanoseconds(command.start_ns));
    state->started.command = command.command;
    state->started.end = std::move(fds[0]);
    state->started.stdio.resize(3);
    state->started.stdio[1] = std::move(fds[1]);
    state->started.stdio[2] = std::move(fds[2]);
    std::optional<OutputStage> stage;
    if (staged != 0) stage.emplace(std::move(fds[fds.size() - 2]), std::move(fds[fds.size() - 1]));
    if (fds.size() > plan::kLeastParkedFds + staged) state->started.stdio[0] = std::move(fds[3]);
    state->started.leaf.emplace(std::move(leaf));
    Survivor survivor{.id = command.id, .command = nullptr};
    survivor.command = std::make_unique<SpooledCommand>(SpooledCommand::Begin{.state = std::move(state),
                                                                              .output = *std::move(output),
                                                                              .parked = command,
                                                                              .stage = std::move(stage),
                                                                              .is_frozen = is_frozen_,
                                                                              .on_end = on_end_of(survivor.id)});
    known_commands_.push_back(command.command);
    survivors.push_back(std::move(survivor));
  }
  if (!is_frozen_) CAISSON_CHECK_OK(Greet());
  return survivors;
}

Status Sandbox::Greet() {
  if (std::exchange(was_greeted_, true)) return {};
  CAISSON_TRY(const auto running, instance_->Greet());
  for (const std::uint64_t command : running) {
    // It was started, and its engine ended before anybody heard of it.
    if (std::ranges::find(known_commands_, command) == known_commands_.end()) (void)instance_->Signal(command, SIGKILL);
  }
  return {};
}

Result<plan::ChangeList> Sandbox::Changes() { return instance_->layer().ReportAll(); }

Status Sandbox::KeepFiles() { return instance_->layer().Stay(); }

Status Sandbox::Freeze(const Deadline& deadline) {
  CAISSON_CHECK_OK(instance_->SetFrozen(backend::LauncherLink::Freezer::kFrozen, deadline));
  is_frozen_ = true;
  return {};
}

Status Sandbox::Thaw(const Deadline& deadline) {
  CAISSON_CHECK_OK(instance_->SetFrozen(backend::LauncherLink::Freezer::kThawed, deadline));
  is_frozen_ = false;
  return Greet();
}

void Sandbox::KillAll() const { instance_->KillAll(); }

int Sandbox::ended_fd() const { return instance_->ended_fd(); }

void Sandbox::Leave() { instance_->Leave(); }

}  // namespace caisson::sandbox
