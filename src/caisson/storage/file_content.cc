#include "caisson/storage/file_content.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace caisson::storage {
namespace {

constexpr std::size_t kBufferSize = 128U << 10U;
// Small enough that a cancel and a limit are noticed soon.
constexpr off_t kPiece = 8 << 20;
constexpr off_t kBlock = 512;  // of st_blocks: stat(2)

Error CannotWrite(int errno_value) { return Error::FromErrno(errno_value, "cannot write a file of the copy"); }

// What says that this pair of file systems will never do it.
bool IsLack(int errno_value) {
  return errno_value == EOPNOTSUPP || errno_value == EXDEV || errno_value == ENOTTY || errno_value == ENOSYS;
}

bool IsFull(int errno_value) { return errno_value == ENOSPC || errno_value == EDQUOT; }

Status WriteAt(const os::Fd& target, const char* data, std::size_t size, off_t offset) {
  while (size > 0) {
    const ssize_t n = pwrite(target.get(), data, size, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail(CannotWrite(errno));
    data += n;
    size -= static_cast<std::size_t>(n);
    offset += n;
  }
  return {};
}

}  // namespace

FileContent::FileContent(CopyMeter& meter) : meter_(meter), buffer_(new char[kBufferSize]) {}

Result<FileContent::Way> FileContent::Copy(const os::Fd& source, const os::Fd& target, off_t size, Holes holes) {
  if (size == 0) return Way::kWritten;
  if (can_share_) {
    CAISSON_TRY(const Way way, Share(source, target, size));
    if (way == Way::kShared) return way;
  }
  if (holes == Holes::kPossible) {
    CAISSON_CHECK_OK(CopySparse(source, target, size));
  } else {
    CAISSON_CHECK_OK(CopyRange(source, target, 0, size));
  }
  return Way::kWritten;
}

Result<FileContent::Way> FileContent::Share(const os::Fd& source, const os::Fd& target, off_t size) {
  if (ioctl(target.get(), FICLONE, source.get()) != 0) {
    if (IsFull(errno)) return Fail(CannotWrite(errno));
    // Everything else is about this file alone, like one that is exempt from checksums.
    if (IsLack(errno)) can_share_ = false;
    return Way::kWritten;
  }
  struct stat made{};
  if (fstat(target.get(), &made) != 0) return Fail(CannotWrite(errno));
  if (made.st_size > size && ftruncate(target.get(), size) != 0) return Fail(CannotWrite(errno));
  CAISSON_CHECK_OK(meter_.AddBytes(static_cast<std::uint64_t>(made.st_blocks * kBlock)));
  return Way::kShared;
}

Status FileContent::CopySparse(const os::Fd& source, const os::Fd& target, off_t size) {
  off_t offset = 0;
  while (offset < size) {
    off_t data = lseek(source.get(), offset, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // nothing but a hole up to the end
    if (data < offset) data = offset;       // not supported here
    if (data >= size) break;
    off_t hole = lseek(source.get(), data, SEEK_HOLE);
    if (hole <= data || hole > size) hole = size;
    CAISSON_TRY(offset, CopyRange(source, target, data, hole));
    if (offset < hole) break;
  }
  const off_t end = lseek(source.get(), 0, SEEK_END);
  if (ftruncate(target.get(), end < 0 ? size : std::min(size, end)) != 0) return Fail(CannotWrite(errno));
  return {};
}

Result<off_t> FileContent::CopyRange(const os::Fd& source, const os::Fd& target, off_t start, off_t end) {
  while (start < end) {
    const auto piece = static_cast<std::size_t>(std::min(end - start, kPiece));
    CAISSON_TRY(const std::size_t copied, CopyPiece(source, target, start, piece));
    if (copied == 0) break;
    start += static_cast<off_t>(copied);
    CAISSON_CHECK_OK(meter_.AddBytes(copied));
  }
  return start;
}

Result<std::size_t> FileContent::CopyPiece(const os::Fd& source, const os::Fd& target, off_t offset, std::size_t size) {
  // What fits the buffer is quicker through it.
  while (can_copy_ranges_ && size > kBufferSize) {
    off_t from = offset;
    off_t to = offset;
    const ssize_t n = copy_file_range(source.get(), &from, target.get(), &to, size, 0);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) break;  // some file systems say so before the end: reading tells
    if (errno == EINTR) continue;
    if (IsFull(errno) || errno == EIO) return Fail(Error::FromErrno(errno, "cannot copy the data of a file"));
    if (IsLack(errno)) can_copy_ranges_ = false;
    break;
  }
  while (true) {
    const ssize_t n = pread(source.get(), buffer_.get(), std::min(size, kBufferSize), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail(Error::FromErrno(errno, "cannot read a file of the folder"));
    CAISSON_CHECK_OK(WriteAt(target, buffer_.get(), static_cast<std::size_t>(n), offset));
    return static_cast<std::size_t>(n);
  }
}

}  // namespace caisson::storage
