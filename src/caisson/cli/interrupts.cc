#include "caisson/cli/interrupts.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/cli/terminal.h"

namespace caisson::cli {

Interrupts::~Interrupts() {
  if (signals_.valid()) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Status Interrupts::Watch() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) sigaddset(&watched, signal);
  os::Fd signals(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return Fail(Error::FromErrno(errno, "cannot watch for signals"));
  const int error = pthread_sigmask(SIG_BLOCK, &watched, &before_);
  if (error != 0) return Fail(Error::FromErrno(error, "cannot hold signals back"));
  signals_ = std::move(signals);
  return {};
}

void Interrupts::ConnectTo(sandbox::Attachment& attachment) {
  attachment.interrupt_fd = signals_.get();
  attachment.on_interrupt = &Interrupts::OnReadable;
  attachment.context = this;
}

Interrupts::Interrupt Interrupts::OnReadable(void* self, sandbox::Command& command) {
  auto& interrupts = *static_cast<Interrupts*>(self);
  Interrupt verdict = Interrupt::kContinue;
  signalfd_siginfo info{};
  while (read(interrupts.signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (interrupts.ActOn(info.ssi_signo, command) == Interrupt::kCancel) verdict = Interrupt::kCancel;
  }
  return verdict;
}

Interrupts::Interrupt Interrupts::ActOn(std::uint32_t signal, sandbox::Command& command) {
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
