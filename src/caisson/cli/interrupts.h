#pragma once

#include <signal.h>

#include <cstdint>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
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
  // Lets the signals have their usual effect again.
  ~Interrupts();

  // From here on the signals wait until a command is waited for. Source: signalfd(2).
  Status Watch();
  // Makes Command::Wait act on the signals. This object must outlive the wait.
  void ConnectTo(sandbox::Attachment& attachment);

 private:
  using Interrupt = sandbox::Attachment::Interrupt;
  static Interrupt OnReadable(void* self, sandbox::Command& command);
  Interrupt ActOn(std::uint32_t signal, sandbox::Command& command);

  os::Fd signals_;
  sigset_t before_ = {};
  int interrupts_seen_ = 0;
};

}  // namespace caisson::cli
