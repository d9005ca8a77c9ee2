#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::backend {

// The cgroup of one command: what ends its whole process tree and what counts what it used. Used for one command only: a
// cgroup that was killed kills whatever is born in it. Move-only; not thread-safe but for Kill.
class Leaf {
 public:
  // From the descriptors of a launcher's reply (plan/launch_plan.h).
  Leaf(std::uint32_t number, std::vector<os::Fd> engine, std::vector<os::Fd> guest)
      : number_(number), engine_(std::move(engine)), guest_(std::move(guest)) {}

  std::uint32_t number() const { return number_; }
  // What the guest needs to start the command. Borrowed.
  std::vector<int> GuestFds() const;
  void CloseGuestFds() { guest_.clear(); }

  // Kills every process of the command, whatever it did to get away. Kernel: cgroup.kill, 5.14.
  void Kill() const;
  // True when no process is left by the deadline.
  bool Emptied(const Deadline& deadline) const;

  std::chrono::microseconds CpuTime() const;
  std::optional<std::uint64_t> MemoryPeakBytes() const;
  bool RanOutOfMemory() const;

 private:
  std::uint32_t number_;
  std::vector<os::Fd> engine_;
  std::vector<os::Fd> guest_;
};

}  // namespace caisson::backend
