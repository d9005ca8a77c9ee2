#pragma once

#include "caisson/base/result.h"
#include "caisson/cli/signal_watch.h"
#include "caisson/sandbox/command.h"

namespace caisson::cli {

// The caller's signals while a command runs. The first SIGINT and every SIGQUIT go to the command; the second SIGINT,
// SIGTERM and SIGHUP cancel it; SIGWINCH passes on the size of the terminal. Neither copied nor moved: an attachment
// points to it. For the main thread.
class Interrupts {
 public:
  Interrupts() = default;
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() = default;  // the signals have their usual effect again

  // From here on, while this object lives, the signals wait until a command is waited for.
  Status Watch();
  // Makes Command::Wait act on the signals. This object must outlive the wait.
  void ConnectTo(sandbox::Attachment& attachment);

 private:
  using Interrupt = sandbox::Attachment::Interrupt;
  static Interrupt OnReadable(void* self, sandbox::Command& command);
  Interrupt ActOn(int signal, sandbox::Command& command);

  SignalWatch signals_;
  int interrupts_seen_ = 0;
};

}  // namespace caisson::cli
