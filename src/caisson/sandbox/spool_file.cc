#include "caisson/sandbox/spool_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace caisson::sandbox {
namespace {

// Holes are made of whole blocks.
constexpr std::uint64_t kBlock = 4096;
constexpr std::size_t kDiscardPiece = 64U << 10U;

constexpr std::uint64_t RoundDown(std::uint64_t offset) { return offset / kBlock * kBlock; }
constexpr std::uint64_t RoundUp(std::uint64_t offset) { return RoundDown(offset + kBlock - 1); }

// Less than a pipe holds: the kernel keeps the command from writing to it meanwhile.
constexpr std::size_t kSplice = KiB(256).value;

}  // namespace

SpoolFile SpoolFile::Later(int directory, std::string name) { return {directory, std::move(name)}; }

Result<SpoolFile> SpoolFile::Open(int directory, const std::string& name) {
  SpoolFile spool = Later(directory, name);
  spool.file_ = os::Fd(openat(directory, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!spool.file_.valid() && errno == ENOENT) return spool;
  struct stat info{};
  if (!spool.file_.valid() || fstat(spool.file_.get(), &info) != 0) {
    return Fail(Error::FromErrno(errno, "cannot open the command's output"));
  }
  spool.end_ = static_cast<std::uint64_t>(info.st_size);
  const off_t hole = lseek(spool.file_.get(), 0, SEEK_HOLE);
  if (hole >= 0 && static_cast<std::uint64_t>(hole) < spool.end_) {
    const off_t data = lseek(spool.file_.get(), hole, SEEK_DATA);
    spool.dropped_from_ = std::min(kHead, static_cast<std::uint64_t>(hole));
    spool.dropped_until_ = data < 0 ? RoundUp(spool.end_) : static_cast<std::uint64_t>(data);
  }
  return spool;
}

SpoolFile::Moved SpoolFile::Take(int pipe, std::uint64_t free_until) {
  if (!file_.valid()) {
    if (const Moved begun = Begin(pipe); begun != Moved::kSome) return begun;
    if (!file_.valid()) return Discard(pipe);
  }
  if (HasGap() && end_ < dropped_until_) return Discard(pipe);
  auto offset = static_cast<off_t>(end_);
  const ssize_t n = splice(pipe, nullptr, file_.get(), &offset, kSplice, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (n > 0) {
    end_ += static_cast<std::uint64_t>(n);
    return Moved::kSome;
  }
  if (n == 0) return Moved::kEnd;
  if (errno == EAGAIN || errno == EINTR) return Moved::kNothing;
  if (errno == EPIPE || errno == EBADF) return Moved::kEnd;
  // No room: first what was kept of the middle goes.
  free_until = std::min(free_until, end_);
  if (dropped_until_ + kBlock < free_until) {
    DropBefore(free_until);
    return Moved::kSome;
  }
  return Discard(pipe);
}

SpoolFile::Moved SpoolFile::Begin(int pipe) {
  pollfd entry{pipe, POLLIN, 0};
  if (poll(&entry, 1, 0) <= 0) return Moved::kNothing;
  if ((entry.revents & POLLIN) == 0) return Moved::kEnd;
  file_ = os::Fd(openat(directory_, name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  // What found no room before.
  if (file_.valid() && end_ > 0 && ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) file_.Reset();
  return Moved::kSome;
}

SpoolFile::Moved SpoolFile::Discard(int pipe) {
  std::array<char, kDiscardPiece> buffer;
  const bool is_in_gap = HasGap() && end_ < dropped_until_;
  const std::size_t most = is_in_gap ? std::min<std::size_t>(buffer.size(), dropped_until_ - end_) : buffer.size();
  const ssize_t n = read(pipe, buffer.data(), most);
  if (n == 0) return Moved::kEnd;
  if (n < 0) return errno == EAGAIN || errno == EINTR ? Moved::kNothing : Moved::kEnd;
  // The gap grows by whole blocks, and by what is kept before it of its first one: only so is it found again.
  if (!HasGap()) dropped_from_ = dropped_until_ = std::min(kHead, RoundDown(end_));
  end_ += static_cast<std::uint64_t>(n);
  // A hole, which takes no room.
  if (file_.valid()) (void)!ftruncate(file_.get(), static_cast<off_t>(end_));
  const std::uint64_t until = RoundUp(end_);
  if (until <= dropped_until_) return Moved::kSome;
  PunchHole(dropped_until_, until);
  dropped_until_ = until;
  return Moved::kSome;
}

void SpoolFile::DropBefore(std::uint64_t offset) {
  const std::uint64_t until = RoundDown(std::min(offset, end_));
  if (until <= dropped_until_) return;
  PunchHole(dropped_until_, until);
  dropped_until_ = until;
}

void SpoolFile::PunchHole(std::uint64_t from, std::uint64_t until) const {
  if (file_.valid())
    fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
              static_cast<off_t>(until - from));
}

Result<std::string> SpoolFile::Read(std::uint64_t offset, std::size_t limit) const {
  if (!file_.valid()) return std::string();
  std::string bytes(limit, '\0');
  ssize_t n = 0;
  do {
    n = pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  if (n < 0) return Fail(Error::FromErrno(errno, "cannot read the command's output"));
  bytes.resize(static_cast<std::size_t>(n));
  return bytes;
}

}  // namespace caisson::sandbox
