#include "caisson/backend/leaf.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "caisson/os/cgroup.h"

namespace caisson::backend {
namespace {

enum EngineFd { kKill, kState, kCpu, kPeak, kEvents, kProcesses, kSandboxProcesses };

class FileText {
 public:
  explicit FileText(const os::Fd& file) : size_(pread(file.get(), text_.data(), text_.size(), 0)) {}
  std::string_view view() const { return {text_.data(), size_ < 0 ? 0 : static_cast<std::size_t>(size_)}; }

 private:
  std::array<char, 1024> text_{};
  ssize_t size_;
};

}  // namespace

std::vector<int> Leaf::GuestFds() const {
  std::vector<int> fds;
  for (const os::Fd& fd : guest_) fds.push_back(fd.get());
  return fds;
}

Leaf::Leaf(Leaf&& other) noexcept { *this = std::move(other); }

Leaf& Leaf::operator=(Leaf&& other) noexcept {
  number_ = other.number_;
  engine_ = std::move(other.engine_);
  guest_ = std::move(other.guest_);
  killed_ = other.killed_.load();
  before_ = other.before_;
  return *this;
}

void Leaf::Kill() {
  killed_ = true;
  // Fails only when the cgroup is gone, and its processes with it.
  (void)!write(engine_[kKill].get(), "1", 1);
}

bool Leaf::Emptied(const Deadline& deadline) const {
  while (os::IsPopulated(FileText(engine_[kState]).view())) {
    if (deadline.Passed()) return false;
    pollfd entry{engine_[kState].get(), POLLPRI, 0};
    // The event can come between the read and the poll: look again soon whatever happens.
    poll(&entry, 1, std::min(deadline.PollTimeout(), 10));
  }
  return true;
}

std::chrono::microseconds Leaf::CpuTime() const {
  return std::chrono::microseconds(std::max(CpuMicroseconds(), before_.cpu_us) - before_.cpu_us);
}

std::optional<std::uint64_t> Leaf::MemoryPeakBytes() const {
  const FileText text(engine_[kPeak]);
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.view().data(), text.view().data() + text.view().size(), bytes);
  if (error != std::errc() || end == text.view().data()) return std::nullopt;
  return bytes;
}

bool Leaf::RanOutOfMemory() const { return OomKills() > before_.oom_kills; }

bool Leaf::HitProcessLimit() const { return ProcessLimitHits() > before_.process_limit_hits; }

bool Leaf::Recycle() {
  constexpr std::uint64_t kLittle = 512U << 10U;
  if (killed_ || os::IsPopulated(FileText(engine_[kState]).view())) return false;
  if (pwrite(engine_[kPeak].get(), "0", 1, 0) != 1) return false;
  const auto held = MemoryPeakBytes();
  if (!held || *held > kLittle) return false;
  before_.oom_kills = OomKills();
  before_.cpu_us = CpuMicroseconds();
  return true;
}

std::uint64_t Leaf::OomKills() const { return os::OomKills(FileText(engine_[kEvents]).view()); }

std::uint64_t Leaf::CpuMicroseconds() const { return os::CpuMicroseconds(FileText(engine_[kCpu]).view()); }

std::uint64_t Leaf::ProcessLimitHits() const {
  return os::ProcessLimitHits(FileText(engine_[kProcesses]).view()) +
         os::ProcessLimitHits(FileText(engine_[kSandboxProcesses]).view());
}

}  // namespace caisson::backend
