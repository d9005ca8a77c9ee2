#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::backend {

// The cgroup of one command at a time: what ends its whole process tree and what counts what it used. Never used again
// after a kill: a cgroup that was killed kills whatever is born in it. Move-only; not thread-safe but for Kill.
class Leaf {
 public:
  // From the descriptors of a launcher's reply (plan/launch_plan.h).
  Leaf(std::uint32_t number, std::vector<os::Fd> engine, std::vector<os::Fd> guest)
      : number_(number), engine_(std::move(engine)), guest_(std::move(guest)) {}
  Leaf(Leaf&& other) noexcept;
  Leaf& operator=(Leaf&& other) noexcept;
  Leaf(const Leaf&) = delete;
  Leaf& operator=(const Leaf&) = delete;
  ~Leaf() = default;

  std::uint32_t number() const { return number_; }
  // What the guest needs to start the command. Borrowed.
  std::vector<int> GuestFds() const;

  // Kills every process of the command, whatever it did to get away. Kernel: cgroup.kill, 5.14.
  void Kill();
  // True when no process is left by the deadline.
  bool Emptied(const Deadline& deadline) const;

  // 0 when the cgroup is gone, which takes its counts away.
  std::chrono::microseconds CpuTime() const;
  std::optional<std::uint64_t> MemoryPeakBytes() const;
  bool RanOutOfMemory() const;
  // Whether a process was refused at a limit since BeginCommand: the leaf's, or that of the sandbox, which its other
  // commands share.
  bool HitProcessLimit() const;

  // What earlier commands used.
  struct Counts {
    std::uint64_t cpu_us = 0;
    std::uint64_t oom_kills = 0;
    std::uint64_t process_limit_hits = 0;
  };
  const Counts& before() const { return before_; }
  // Of a leaf whose command another engine began.
  void Restore(const Counts& before) { before_ = before; }

  // To be called before a command is started in it.
  void BeginCommand() { before_.process_limit_hits = ProcessLimitHits(); }

  // Starts counting anew for the next command. False when the leaf cannot serve another one: it was killed, a
  // background process lives in it, or its memory peak cannot be set back, or it still holds more than a little memory
  // that would count as the next command's.
  bool Recycle();

 private:
  std::uint64_t OomKills() const;
  std::uint64_t CpuMicroseconds() const;
  std::uint64_t ProcessLimitHits() const;

  std::uint32_t number_;
  std::vector<os::Fd> engine_;
  std::vector<os::Fd> guest_;
  std::atomic<bool> killed_ = false;
  Counts before_;
};

}  // namespace caisson::backend
