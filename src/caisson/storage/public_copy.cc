#include "caisson/storage/public_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <memory>

#include "caisson/os/fd.h"

namespace caisson::storage {
namespace {

constexpr std::uint64_t kMaxEntries = 20'000;
constexpr std::uint64_t kMaxBytes = 64U << 20U;
constexpr int kMaxDepth = 16;

// What is gone or another thing by now may lack in the copy. A host that lacks descriptors or memory, or
// cannot read its disk, must not leave behind an image that lacks something ever after.
Status LeftOut(const std::string& path) {
  switch (errno) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EINVAL:  // readlink(2) of what is no link
      return {};
    default:
      return Fail(Error::FromErrno(errno, "cannot read the host's " + path));
  }
}

bool IsListable(const struct stat& info) {
  return S_ISDIR(info.st_mode) && (info.st_mode & (S_IROTH | S_IXOTH)) == (S_IROTH | S_IXOTH);
}

class Copier {
 public:
  Copier(int from, int to) : from_(from), to_(to) {}

  Status Copy(const std::string& path, int depth = 0) {
    struct stat info{};
    if (fstatat(from_, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return LeftOut(path);
    if (++entries_ > kMaxEntries || depth > kMaxDepth) return Fail(TooMuch());
    if (S_ISLNK(info.st_mode)) return CopyLink(path);
    if (S_ISREG(info.st_mode) && (info.st_mode & S_IROTH) != 0) return CopyFile(path, info);
    if (IsListable(info)) return CopyFolder(path, depth);
    return {};
  }

 private:
  static Error TooMuch() { return {Code::kResourceExhausted, "the host's /etc is too large to copy"}; }

  Status CopyLink(const std::string& path) const {
    std::array<char, PATH_MAX> target{};
    const ssize_t n = readlinkat(from_, path.c_str(), target.data(), target.size() - 1);
    if (n < 0) return LeftOut(path);
    if (symlinkat(target.data(), to_, path.c_str()) != 0 && errno != EEXIST) {
      return Fail(Error::FromErrno(errno, "cannot make the link " + path));
    }
    return {};
  }

  Status CopyFile(const std::string& path, const struct stat& info) {
    bytes_ += static_cast<std::uint64_t>(info.st_size);
    if (bytes_ > kMaxBytes) return Fail(TooMuch());
    const os::Fd source(openat(from_, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!source.valid()) return LeftOut(path);
    const mode_t mode = (info.st_mode & S_IXOTH) != 0 ? 0755 : 0644;
    const os::Fd copy(openat(to_, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!copy.valid()) return Fail(Error::FromErrno(errno, "cannot make the file " + path));
    off_t offset = 0;
    while (offset < info.st_size) {
      const ssize_t n = sendfile(copy.get(), source.get(), &offset, static_cast<std::size_t>(info.st_size - offset));
      if (n < 0) return Fail(Error::FromErrno(errno, "cannot copy the file " + path));
      if (n == 0) break;  // it became shorter meanwhile
    }
    return {};
  }

  Status CopyFolder(const std::string& path, int depth) {
    if (mkdirat(to_, path.c_str(), 0755) != 0 && errno != EEXIST) {
      return Fail(Error::FromErrno(errno, "cannot make the folder " + path));
    }
    const int folder = openat(from_, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(folder < 0 ? nullptr : fdopendir(folder), closedir);
    if (listing == nullptr) return LeftOut(path);
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(listing.get());
      if (entry == nullptr) return errno == 0 ? Status() : LeftOut(path);
      const std::string name = entry->d_name;
      if (name != "." && name != "..") CAISSON_CHECK_OK(Copy(path + "/" + name, depth + 1));
    }
  }

  int from_;
  int to_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Status CopyPublic(int from, int to, const std::string& path) {
  struct stat info{};
  if (fstatat(from, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return LeftOut(path);
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (fstatat(from, parent.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return LeftOut(parent);
    if (!IsListable(info)) return {};
    if (mkdirat(to, parent.c_str(), 0755) != 0 && errno != EEXIST) {
      return Fail(Error::FromErrno(errno, "cannot make the folder " + parent));
    }
  }
  return Copier(from, to).Copy(path);
}

}  // namespace caisson::storage
