#pragma once

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::state {

// That this process alone is the daemon of a data folder: an exclusive lock on the file `daemon.lock` in it, which the
// kernel drops with the last process that holds it, however that ends. The file says whose lock it is; what an unlocked
// one says means nothing. A process that is forked while this exists holds the lock too, until it calls exec.
// Source: flock(2).
class OnlyDaemon {
 public:
  // `folder`: the data folder. Does not wait. Errors: kConflict naming the process that has it; those of making a file.
  static Result<OnlyDaemon> Take(const os::Fd& folder);

 private:
  explicit OnlyDaemon(os::Fd file) : file_(std::move(file)) {}
  os::Fd file_;
};

}  // namespace caisson::state
