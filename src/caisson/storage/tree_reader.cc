#include "caisson/storage/tree_reader.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <iterator>
#include <utility>

#include "caisson/os/folder_lock.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// openat2(2) fails with EAGAIN when something is renamed meanwhile, which a hostile tree can do all the time.
os::Fd OpenBeneath(const os::Fd& root, const std::string& path, int flags) {
  constexpr int kAttempts = 32;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  for (int attempt = 1;; ++attempt) {
    const long fd = syscall(SYS_openat2, root.get(), path.empty() ? "." : path.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR) || attempt == kAttempts) return os::Fd(static_cast<int>(fd));
  }
}

// What such a failure says of a name that a moment ago was there: it is gone, or something else now.
bool MeansAbsent(int error) {
  constexpr int kAbsent[] = {ENOENT, ENOTDIR, ELOOP, EXDEV, ENODATA, EOPNOTSUPP, EINVAL, ENXIO};
  return std::find(std::begin(kAbsent), std::end(kAbsent), error) != std::end(kAbsent);
}

FileStamp MakeStamp(const struct stat& info) {
  return {.mode = info.st_mode,
          .uid = info.st_uid,
          .gid = info.st_gid,
          .device = S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode) ? info.st_rdev : 0,
          .inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .links = info.st_nlink,
          .modified = info.st_mtim,
          .changed = info.st_ctim};
}

}  // namespace

int TreeReader::Folder(const std::string& path) {
  if (last_.valid() && last_path_ == path) return last_.get();
  const bool is_below = last_.valid() && path.size() > last_path_.size() + 1 && path[last_path_.size()] == '/' &&
                        path.starts_with(last_path_);
  if (path.size() > kMaxPath) {
    last_.Reset();
  } else if (is_below) {
    last_ = OpenBeneath(last_, path.substr(last_path_.size() + 1), kDirectory);
  } else {
    last_ = OpenBeneath(root_, path, kDirectory);
  }
  if (path.size() <= kMaxPath && !last_.valid()) NoteFailure(errno);
  last_path_ = path;
  return last_.get();
}

void TreeReader::NoteFailure(int error) { failed_ = failed_ || !MeansAbsent(error); }

std::optional<FileStamp> TreeReader::Stamp(const std::string& path) {
  struct stat info{};
  if (path.empty()) {
    if (fstat(root_.get(), &info) == 0) return MakeStamp(info);
    NoteFailure(errno);
    return std::nullopt;
  }
  const auto [folder, name] = SplitPath(path);
  const int directory = Folder(folder);
  if (directory < 0) return std::nullopt;
  if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    NoteFailure(errno);
    return std::nullopt;
  }
  if (!S_ISDIR(info.st_mode) && IsLater(info.st_ctim, newest_)) newest_ = info.st_ctim;
  return MakeStamp(info);
}

std::vector<std::string> TreeReader::Names(const std::string& folder) {
  if (Folder(folder) < 0) return {};
  Result<std::vector<std::string>> names = os::ReadNames(last_);
  if (names) return *std::move(names);
  NoteFailure(names.error().errno_value());
  return {};
}

std::string TreeReader::LinkTarget(const std::string& path) {
  const auto [folder, name] = SplitPath(path);
  const int directory = Folder(folder);
  std::array<char, PATH_MAX> target{};
  if (directory < 0) return {};
  const ssize_t size = readlinkat(directory, name.c_str(), target.data(), target.size());
  if (size < 0) NoteFailure(errno);
  return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

os::Fd TreeReader::OpenFile(const std::string& path) {
  const auto [folder, name] = SplitPath(path);
  const int directory = Folder(folder);
  if (directory < 0) return {};
  os::Fd file(openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (!file.valid() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return file;
}

std::string TreeReader::Attribute(const std::string& folder, const char* name) {
  const int directory = Folder(folder);
  std::array<char, PATH_MAX> value{};
  if (directory < 0) return {};
  const ssize_t size = fgetxattr(directory, name, value.data(), value.size());
  if (size < 0) NoteFailure(errno);
  return size < 0 ? std::string() : std::string(value.data(), static_cast<std::size_t>(size));
}

bool IsLater(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

std::pair<std::string, std::string> SplitPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string JoinPath(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty()) path += '/';
  path += name;
  return path;
}

}  // namespace caisson::storage
