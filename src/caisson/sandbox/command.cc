#include "caisson/sandbox/command.h"

#include <sys/ioctl.h>

#include <cerrno>
#include <utility>

#include "caisson/sandbox/command_pump.h"
#include "caisson/sandbox/command_state.h"
#include "caisson/sandbox/command_verdict.h"

namespace caisson::sandbox {
namespace {

// How long a killed process tree may take to be gone.
constexpr std::chrono::milliseconds kKillPatience{1000};

// Takes a command from its start to its end: what happened is decided here, once, first cause first.
class Waiter {
 public:
  Waiter(Command& command, Command::State& state, const Attachment& attachment)
      : command_(command),
        state_(state),
        attachment_(attachment),
        pump_(state.started.end, MakeInput(), MakeOutput(1, attachment.stdout_fd), MakeError(),
              attachment.interrupt_fd) {}

  Result<CommandResult> Run() {
    const std::optional<proto::End> end = AwaitEnd();
    CommandResult result;
    result.duration = std::chrono::steady_clock::now() - state_.start;
    if (!end && !decided_) {
      return Fail(Error(Code::kUnavailable, "the sandbox ended while the command ran")
                      .Because("its first process is gone")
                      .Retryable());
    }
    if (decided_) (void)Leaf().Emptied(Deadline::In(kKillPatience));
    pump_.Finish();
    result.outcome = decided_ ? *decided_ : Classify(*end, Leaf());
    result.out = pump_.TakeOut();
    result.err = pump_.TakeErr();
    Measure(Leaf(), result);
    result.waits_for_input = waits_for_input_;
    TakeChanges(state_, result);
    return result;
  }

 private:
  backend::Leaf& Leaf() const { return *state_.started.leaf; }

  InputStream MakeInput() const {
    auto& stdio = state_.started.stdio;
    if (!state_.is_terminal) return {std::move(stdio[0]), attachment_.stdin_fd, false};
    auto second = stdio[0].Duplicate();
    return {second ? *std::move(second) : os::Fd(), attachment_.stdin_fd, true};
  }
  OutputCapture MakeCapture() const { return {state_.kept_output, state_.spool, state_.spool_directory}; }
  OutputStream MakeOutput(std::size_t index, int host_fd) const {
    // The terminal stays in the state: its size may change while the command runs.
    if (!state_.is_terminal) return {std::move(state_.started.stdio[index]), host_fd, MakeCapture()};
    auto second = state_.started.stdio[0].Duplicate();
    return {second ? *std::move(second) : os::Fd(), host_fd, MakeCapture()};
  }
  std::optional<OutputStream> MakeError() const {
    if (state_.is_terminal) return std::nullopt;
    return MakeOutput(2, attachment_.stderr_fd);
  }

  // Kills the tree and remembers why, unless something was decided before.
  void Decide(Outcome outcome) {
    decided_.emplace(std::move(outcome));
    Leaf().Kill();
  }

  std::optional<proto::End> AwaitEnd() {
    Deadline deadline(state_.start + state_.timeout);
    while (true) {
      const CommandPump::Event event = pump_.Run(deadline);
      if (const auto* ended = std::get_if<CommandPump::Ended>(&event)) return ended->end;
      if (std::holds_alternative<CommandPump::Lost>(event)) return std::nullopt;
      if (std::holds_alternative<CommandPump::Expired>(event)) {
        if (decided_) {
          // Killed, and its end was not reported: the guest does not work any more.
          state_.instance->KillAll();
          return std::nullopt;
        }
        const int input = pump_.IdleInput(Deadline::Clock::now());
        waits_for_input_ = input >= 0 && state_.instance->WaitsForInput(Leaf(), input);
        Decide(TimedOut{});
        deadline = Deadline::In(kKillPatience);
        continue;
      }
      const bool cancel = attachment_.on_interrupt == nullptr ||
                          attachment_.on_interrupt(attachment_.context, command_) == Attachment::Interrupt::kCancel;
      if (cancel && !decided_) {
        Decide(Cancelled{});
        deadline = Deadline::In(kKillPatience);
      }
    }
  }

  Command& command_;
  Command::State& state_;
  const Attachment& attachment_;
  CommandPump pump_;
  std::optional<Outcome> decided_;
  bool waits_for_input_ = false;
};

}  // namespace

Command::Command(std::unique_ptr<State> state) : state_(std::move(state)) {}
Command::Command(Command&&) noexcept = default;

Command& Command::operator=(Command&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Command::~Command() {
  if (state_ == nullptr || state_->failed) return;
  if (!state_->over) {
    state_->started.leaf->Kill();
    // What a dying process does to files, closing them at the least, must not be taken for the next command's doing.
    if (!state_->started.leaf->Emptied(Deadline::In(kKillPatience))) state_->changes->ExpectChangesAlways();
  }
  state_->instance->Return(*std::move(state_->started.leaf));
}

Result<CommandResult> Command::Wait(const Attachment& attachment) {
  if (state_->failed) {
    CommandResult result;
    result.outcome = *state_->failed;
    result.duration = std::chrono::steady_clock::now() - state_->start;
    if (state_->span) result.files_changed.emplace();
    return result;
  }
  if (state_->over) return Fail(Error(Code::kConflict, "the command was already waited for"));
  Result<CommandResult> result = Waiter(*this, *state_, attachment).Run();
  state_->over = true;
  return result;
}

Status Command::Signal(int signal) {
  if (state_->failed) return Fail(Error(Code::kConflict, "the command did not start"));
  return state_->instance->Signal(state_->started.command, signal);
}

Status Command::Resize(TerminalSize size) {
  if (!state_->is_terminal || state_->started.stdio.empty()) {
    return Fail(Error(Code::kConflict, "the command has no terminal"));
  }
  winsize window{};
  window.ws_row = size.rows;
  window.ws_col = size.columns;
  if (ioctl(state_->started.stdio[0].get(), TIOCSWINSZ, &window) != 0) {
    return Fail(Error::FromErrno(errno, "cannot resize the terminal"));
  }
  return {};
}

}  // namespace caisson::sandbox
