#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::bench {

// The least that the kernel takes for a sandbox of the process tier: clone3(2) with user, mount, pid, network, ipc,
// uts and cgroup namespaces, id maps, an overlay whose upper lies on a tmpfs made before, proc, pivot_root(2), exec
// of /bin/true and its end. No cgroup, no seccomp, no Landlock, no guest.
class Floor {
 public:
  // Moves the calling process into a mount namespace of its own and makes a small root there: /bin/true with the
  // libraries its loader names. Needs root and a single-threaded caller.
  // Errors: those of the failed system call.
  static Result<Floor> Prepare();

  // Errors: kUnsupported naming the step that failed.
  Result<std::chrono::nanoseconds> RunOnce();

 private:
  struct Layer {
    std::string upper;
    std::string work;
  };
  Floor() = default;

  std::vector<Layer> layers_;
  std::size_t next_layer_ = 0;
};

// fork(2), execve(2) of the host's /bin/true and its end.
Result<std::chrono::nanoseconds> MeasureForkExec();

}  // namespace caisson::bench
