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

enum EngineFd { kKill, kState, kCpu, kPeak, kEvents };

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

void Leaf::Kill() const {
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
  return std::chrono::microseconds(os::CpuMicroseconds(FileText(engine_[kCpu]).view()));
}

std::optional<std::uint64_t> Leaf::MemoryPeakBytes() const {
  const FileText text(engine_[kPeak]);
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.view().data(), text.view().data() + text.view().size(), bytes);
  if (error != std::errc() || end == text.view().data()) return std::nullopt;
  return bytes;
}

bool Leaf::RanOutOfMemory() const { return os::OomKills(FileText(engine_[kEvents]).view()) > 0; }

}  // namespace caisson::backend
