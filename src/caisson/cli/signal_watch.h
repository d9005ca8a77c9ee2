#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::cli {

// The signals of a person at a terminal (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH) as something to read. Neither
// copied nor moved. For the main thread, before any other is started. Source: signalfd(2).
class SignalWatch {
 public:
  SignalWatch() = default;
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  // Lets the signals have their usual effect again.
  ~SignalWatch();

  // From here on the signals wait until they are read.
  Status Begin();
  // Readable when one waits; -1 before Begin.
  int fd() const { return signals_.get(); }
  // The next one that waits; nothing when none does.
  std::optional<int> Next();

 private:
  os::Fd signals_;
  sigset_t before_ = {};
};

}  // namespace caisson::cli
