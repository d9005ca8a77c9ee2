#include "caisson/cli/interrupts.h"

#include <signal.h>
#include <unistd.h>

#include "caisson/cli/terminal.h"

namespace caisson::cli {

Status Interrupts::Watch() { return signals_.Begin(); }

void Interrupts::ConnectTo(sandbox::Attachment& attachment) {
  attachment.interrupt_fd = signals_.fd();
  attachment.on_interrupt = &Interrupts::OnReadable;
  attachment.context = this;
}

Interrupts::Interrupt Interrupts::OnReadable(void* self, sandbox::Command& command) {
  auto& interrupts = *static_cast<Interrupts*>(self);
  Interrupt verdict = Interrupt::kContinue;
  while (const std::optional<int> signal = interrupts.signals_.Next()) {
    if (interrupts.ActOn(*signal, command) == Interrupt::kCancel) verdict = Interrupt::kCancel;
  }
  return verdict;
}

Interrupts::Interrupt Interrupts::ActOn(int signal, sandbox::Command& command) {
  // A command that ended meanwhile takes no signal and no size, which is not an error.
  switch (signal) {
    case SIGINT:
      if (++interrupts_seen_ > 1) return Interrupt::kCancel;
      (void)command.Signal(SIGINT);
      return Interrupt::kContinue;
    case SIGQUIT:
      (void)command.Signal(SIGQUIT);
      return Interrupt::kContinue;
    case SIGWINCH:
      if (IsTerminal(STDIN_FILENO)) (void)command.Resize(SizeOfTerminal(STDIN_FILENO));
      return Interrupt::kContinue;
    default:
      return Interrupt::kCancel;
  }
}

}  // namespace caisson::cli
