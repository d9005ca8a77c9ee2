#include "caisson/cli/signal_watch.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace caisson::cli {

SignalWatch::~SignalWatch() {
  if (signals_.valid()) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Status SignalWatch::Begin() {
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

std::optional<int> SignalWatch::Next() {
  signalfd_siginfo info{};
  if (read(signals_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace caisson::cli
