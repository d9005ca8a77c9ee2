#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::bench {

// What a program gets as its standard streams. Borrowed; -1: /dev/null.
struct StandardStreams {
  int in = -1;
  int out = -1;
  int err = -1;
};

// How a program ended: its exit status, or 128 + the signal that killed it.
using ExitStatus = int;

// One child process of the benchmark. Move-only; a child that was not waited for is killed and reaped.
class Program {
 public:
  // posix_spawn(3), so the cost does not depend on the size of the caller. argv[0] is a path.
  // `environment` replaces the caller's unless it is empty ("NAME=value").
  static Result<Program> Spawn(const std::vector<std::string>& argv, const StandardStreams& streams,
                               const std::vector<std::string>& environment = {});

  Program(Program&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Program& operator=(Program&& other) noexcept;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  // Blocks until the process has ended. Call once.
  Result<ExitStatus> Wait();

 private:
  explicit Program(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
};

// waitpid(2), retried on EINTR.
Result<ExitStatus> WaitForChild(pid_t pid);

// The path of an executable on PATH. Errors: kNotFound.
Result<std::string> FindOnPath(std::string_view name);

// The directory this program was started from. Errors: those of readlink(2) on /proc/self/exe.
Result<std::string> OwnDirectory();

}  // namespace caisson::bench
