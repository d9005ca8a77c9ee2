#include "caisson/cli/command_session.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "caisson/base/signal_name.h"
#include "caisson/cli/error_output.h"
#include "caisson/client/input_pump.h"
#include "caisson/os/fd.h"

namespace caisson::cli {
namespace {

dev_t NullDevice() { return makedev(1, 3); }  // Linux: Documentation/admin-guide/devices.txt

// What the caller's signals do to a command of a node.
class RemoteInterrupts {
 public:
  RemoteInterrupts(const Session& session, SignalWatch& signals)
      : session_(session), signals_(signals), http_(session.endpoint) {}

  client::Verdict Read() {
    client::Verdict verdict = client::Verdict::kContinue;
    while (const std::optional<int> signal = signals_.Next()) {
      if (ActOn(*signal) == client::Verdict::kStop) verdict = client::Verdict::kStop;
    }
    return verdict;
  }

 private:
  client::Verdict ActOn(int signal) {
    const bool is_first = signal == SIGINT && ++interrupts_seen_ == 1;
    if (signal == SIGWINCH) return client::Verdict::kContinue;
    if (is_first || signal == SIGQUIT) {
      // One that ended meanwhile takes no signal, which is not an error.
      (void)client::SignalCommand(http_, session_.sandbox, session_.command, SignalName(signal));
      return client::Verdict::kContinue;
    }
    if (session_.second == SecondInterrupt::kLeaves) return client::Verdict::kStop;
    const Status cancelled = client::CancelCommand(http_, session_.sandbox, session_.command);
    // Its end comes as an event. Where the node does not answer there is nothing to wait for.
    return cancelled ? client::Verdict::kContinue : client::Verdict::kStop;
  }

  const Session& session_;
  SignalWatch& signals_;
  client::Http http_;
  int interrupts_seen_ = 0;
};

}  // namespace

client::OutputSink StandardStreams() {
  return {[](client::Stream stream, std::string_view bytes) -> Status {
            return os::WriteAll(stream == client::Stream::kStdout ? STDOUT_FILENO : STDERR_FILENO, bytes);
          },
          [](client::Stream stream, std::uint64_t bytes) {
            PrintNotice(std::to_string(bytes) + " bytes of " +
                        (stream == client::Stream::kStdout ? "stdout" : "stderr") + " are not kept any more");
          }};
}

int InputToForward() {
  struct stat info{};
  if (fstat(STDIN_FILENO, &info) != 0) return -1;
  const bool is_null = S_ISCHR(info.st_mode) && info.st_rdev == NullDevice();
  return is_null ? -1 : STDIN_FILENO;
}

Result<client::Followed> FollowCommand(const Session& session, SignalWatch& signals) {
  RemoteInterrupts interrupts(session, signals);
  client::InputPump pump;
  if (session.input >= 0) {
    CAISSON_CHECK_OK(pump.Start(session.endpoint, session.sandbox, session.command, session.input));
  }
  const client::OutputSink nowhere{[](client::Stream, std::string_view) -> Status { return {}; },
                                   [](client::Stream, std::uint64_t) {}};
  Result<client::Followed> followed =
      client::FollowOutput(session.endpoint, session.sandbox, session.command, {},
                           session.output == ShowOutput::kYes ? StandardStreams() : nowhere,
                           {signals.fd(), [&] { return interrupts.Read(); }});
  if (const std::optional<Error> lost = pump.Stop()) PrintNotice("the input was cut: " + lost->message());
  return followed;
}

}  // namespace caisson::cli
