#pragma once

#include <sys/types.h>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// A process named by a descriptor, which cannot come to mean another one. Source: pidfd_open(2).
class PidFd {
 public:
  PidFd() = default;
  // A child of this process that was not reaped yet: its number cannot mean another one.
  static Result<PidFd> Open(pid_t pid);
  explicit PidFd(Fd fd) : fd_(std::move(fd)) {}

  bool valid() const { return fd_.valid(); }
  int get() const { return fd_.get(); }
  Result<Fd> Duplicate() const { return fd_.Duplicate(); }
  // Sends a signal; a process that has already ended is not an error.
  Status Signal(int signal) const;
  // True when the process had ended by the deadline. Does not reap.
  bool Ended(const Deadline& deadline) const;
  // Reaps a child that has ended or ends now; blocks.
  void Reap() const;

 private:
  Fd fd_;
};

}  // namespace caisson::os
