#include "caisson/sandbox/output_stage.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/base/units.h"

namespace caisson::sandbox {
namespace {

constexpr std::size_t kSize = MiB(1).value;

}  // namespace

Result<OutputStage> OutputStage::Make() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return Fail(Error::FromErrno(errno, "cannot make a pipe"));
  OutputStage stage{os::Fd(ends[0]), os::Fd(ends[1])};
  // A smaller one does as well, only slower.
  (void)fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(kSize));
  return stage;
}

bool OutputStage::Holds() const {
  int bytes = 0;
  return ioctl(reading_.get(), FIONREAD, &bytes) == 0 && bytes > 0;
}

SpoolFile::Moved OutputStage::Fill(int pipe) const {
  const ssize_t n = splice(pipe, nullptr, writing_.get(), nullptr, kSize, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (n > 0) return SpoolFile::Moved::kSome;
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? SpoolFile::Moved::kNothing : SpoolFile::Moved::kEnd;
}

}  // namespace caisson::sandbox
