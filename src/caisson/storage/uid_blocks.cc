#include "caisson/storage/uid_blocks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/os/identity.h"

namespace caisson::storage {
namespace {

struct flock RangeOf(std::uint32_t block, short type) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(block);
  range.l_len = 1;
  return range;
}

int Lock(int file, std::uint32_t block, short type) {
  struct flock range = RangeOf(block, type);
  return fcntl(file, F_OFD_SETLK, &range) == 0 ? 0 : errno;
}

}  // namespace

Result<UidBlocks> UidBlocks::Open(const os::Fd& runtime) {
  os::Fd file(openat(runtime.get(), "uid-blocks", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open the lock file of uid blocks"));
  return UidBlocks(std::move(file));
}

Result<std::optional<UidBlocks>> UidBlocks::OpenExisting(const os::Fd& runtime) {
  os::Fd file(openat(runtime.get(), "uid-blocks", O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.valid()) return UidBlocks(std::move(file));
  if (errno == ENOENT) return std::nullopt;
  return Fail(Error::FromErrno(errno, "cannot open the lock file of uid blocks"));
}

Result<std::uint32_t> UidBlocks::Take() {
  for (std::uint32_t tried = 1; tried < os::kUidBlocks; ++tried) {
    const std::uint32_t block = next_;
    next_ = next_ + 1 < os::kUidBlocks ? next_ + 1 : 1;
    CAISSON_TRY(const bool taken, TakeThis(block));
    if (taken) return block;
  }
  return Fail(Error(Code::kResourceExhausted, "every uid block is in use by a sandbox"));
}

Result<bool> UidBlocks::TakeThis(std::uint32_t block) {
  const int error = Lock(file_.get(), block, F_WRLCK);
  if (error == 0) return true;
  if (error == EAGAIN || error == EACCES) return false;
  return Fail(Error::FromErrno(error, "cannot lock a uid block"));
}

std::vector<std::uint32_t> UidBlocks::TakenByOthers() const {
  std::vector<std::uint32_t> taken;
  for (std::uint32_t block = 1; block < os::kUidBlocks; ++block) {
    struct flock range = RangeOf(block, F_WRLCK);
    if (fcntl(file_.get(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK) taken.push_back(block);
  }
  return taken;
}

void UidBlocks::Release(std::uint32_t block) { (void)Lock(file_.get(), block, F_UNLCK); }

std::uint32_t UidBlocks::FirstId(std::uint32_t block) { return os::kFirstUid + block * os::kUidsPerBlock; }

}  // namespace caisson::storage
