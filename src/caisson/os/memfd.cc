#include "caisson/os/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <cerrno>

#include "caisson/os/uapi.h"

namespace caisson::os {
namespace {

// MFD_EXEC is refused as unknown before Linux 6.3, where every memfd is executable.
int MakeMemfd() {
  const int fd = memfd_create("caisson-guest", MFD_CLOEXEC | MFD_ALLOW_SEALING | uapi::kMfdExec);
  if (fd >= 0 || errno != EINVAL) return fd;
  return memfd_create("caisson-guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

}  // namespace

Result<Fd> SealedCopy(const Fd& program) {
  struct stat info {};
  if (fstat(program.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read the guest program"));
  Fd copy(MakeMemfd());
  if (!copy.valid()) {
    return Fail(Error::FromErrno(errno, "cannot make an executable memory file")
                    .Remedy("set the sysctl vm.memfd_noexec to 0 or 1"));
  }
  off_t offset = 0;
  while (offset < info.st_size) {
    const ssize_t n = sendfile(copy.get(), program.get(), &offset, static_cast<std::size_t>(info.st_size - offset));
    if (n <= 0) return Fail(Error::FromErrno(n == 0 ? EIO : errno, "cannot copy the guest program"));
  }
  if (fcntl(copy.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return Fail(Error::FromErrno(errno, "cannot seal the guest program"));
  }
  return copy;
}

}  // namespace caisson::os
