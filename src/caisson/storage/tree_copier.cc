#include "caisson/storage/tree_copier.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "caisson/base/utf8.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr std::size_t kListingSize = 32U << 10U;
constexpr std::size_t kMaxDepth = 4096;  // no path that a program can name is deeper than half of that
constexpr std::size_t kOpenLevels = 16;  // the lowest, whose descriptors stay open
constexpr std::size_t kMaxLeftOutPaths = 100;
constexpr int kMaxAttempts = 8;
constexpr blkcnt_t kBlock = 512;  // of st_blocks: stat(2)

// Opens an entry of the source, and never what a link or a mount would put in its place.
os::Fd OpenEntry(const os::Fd& folder, const std::string& name, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_NOATIME);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const long fd = syscall(SYS_openat2, folder.get(), name.c_str(), &how, sizeof how);
  if (fd >= 0 || errno != EPERM) return os::Fd(static_cast<int>(fd));
  // Only the owner and the mighty may read without leaving a trace.
  how.flags &= ~static_cast<std::uint64_t>(O_NOATIME);
  return os::Fd(static_cast<int>(syscall(SYS_openat2, folder.get(), name.c_str(), &how, sizeof how)));
}

bool IsGone(int errno_value) { return errno_value == ENOENT || errno_value == ESTALE; }

// What opening a file answers when something else stands under its name by now.
bool IsReplaced(int errno_value) {
  return errno_value == ELOOP || errno_value == ENOTDIR || errno_value == ENXIO || errno_value == ENODEV;
}

// One name for each file that has several, and another when the number was given to another file meanwhile.
std::string LinkKey(const struct stat& info) {
  std::array<char, 128> key{};
  const int size =
      std::snprintf(key.data(), key.size(), "%llx.%llx.%llx.%llx.%lx", static_cast<unsigned long long>(info.st_dev),
                    static_cast<unsigned long long>(info.st_ino), static_cast<unsigned long long>(info.st_size),
                    static_cast<unsigned long long>(info.st_mtim.tv_sec), info.st_mtim.tv_nsec);
  return {key.data(), static_cast<std::size_t>(size)};
}

FileContent::Holes HolesOf(const struct stat& info) {
  const bool is_whole = info.st_blocks >= info.st_size / kBlock + (info.st_size % kBlock == 0 ? 0 : 1);
  return is_whole ? FileContent::Holes::kNone : FileContent::Holes::kPossible;
}

}  // namespace

TreeCopier::TreeCopier(os::Fd links, const CopyOptions& options, CopyMeter& meter, const struct stat& target)
    : links_(std::move(links)),
      options_(options),
      meter_(meter),
      content_(meter),
      attributes_(target.st_uid, target.st_gid, meter, summary_),
      top_target_(IdOf(target)),
      listing_(new char[kListingSize]) {}

Status TreeCopier::Copy(os::Fd source, os::Fd target) {
  struct stat info{};
  if (fstat(source.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read the folder to copy"));
  CAISSON_CHECK_OK(PushLevel("", std::move(source), std::move(target), info));
  CAISSON_CHECK_OK(Walk());
  summary_.bytes = meter_.so_far().bytes;
  return {};
}

Status TreeCopier::Walk() {
  while (!levels_.empty()) {
    if (!here().folders.empty()) {
      const std::string next = std::move(here().folders.back());
      here().folders.pop_back();
      if (Status entered = EnterFolder(next); !entered) return Fail(AtEntry(std::move(entered).error(), next));
    } else if (!here().is_listed) {
      CAISSON_CHECK_OK(CopyPart());
    } else {
      CAISSON_CHECK_OK(LeaveFolder());
    }
  }
  return {};
}

// Takes the next part of the listing, copies what is no folder and notes the folders.
Status TreeCopier::CopyPart() {
  Level& level = here();
  const ssize_t size = getdents64(level.source.get(), listing_.get(), kListingSize);
  if (size < 0 && !IsGone(errno)) return Fail(Error::FromErrno(errno, "cannot list " + Quoted(PathTo(""))));
  level.is_listed = size <= 0;
  for (ssize_t start = 0; start < size;) {
    // Entries have no alignment that a byte buffer keeps.
    unsigned short length = 0;
    const char* entry = listing_.get() + start;
    std::memcpy(&length, entry + offsetof(dirent64, d_reclen), sizeof length);
    std::memcpy(&level.offset, entry + offsetof(dirent64, d_off), sizeof level.offset);
    const auto type = static_cast<unsigned char>(entry[offsetof(dirent64, d_type)]);
    std::string name = entry + offsetof(dirent64, d_name);
    start += length;
    if (name == "." || name == "..") continue;
    CAISSON_CHECK_OK(meter_.AddEntry());
    if (type == DT_DIR) {
      level.folders.push_back(std::move(name));
    } else if (Status copied = CopyEntry(name, type); !copied) {
      return Fail(AtEntry(std::move(copied).error(), name));
    }
  }
  return {};
}

Status TreeCopier::CopyEntry(const std::string& name, unsigned char type) {
  mode_t known = static_cast<mode_t>(DTTOIF(type));
  for (int i = 0; i < kMaxAttempts; ++i) {
    CAISSON_TRY(const Attempt attempt, TryEntry(name, known));
    if (attempt == Attempt::kDone) return {};
    known = 0;
  }
  ++summary_.changed;
  return {};
}

// `type`: as the listing has it, or 0.
Result<TreeCopier::Attempt> TreeCopier::TryEntry(const std::string& name, mode_t type) {
  if (S_ISREG(type)) return CopyFile(name);
  struct stat info{};
  if (fstatat(here().source.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    if (!IsGone(errno)) return Fail(Error::FromErrno(errno, "cannot examine an entry"));
    ++summary_.changed;
    return Attempt::kDone;
  }
  if (S_ISREG(info.st_mode)) return CopyFile(name);
  if (S_ISLNK(info.st_mode) || S_ISFIFO(info.st_mode)) return CopyByName(name, info);
  if (S_ISDIR(info.st_mode)) {
    here().folders.push_back(name);
    return Attempt::kDone;
  }
  LeaveOut(name);
  return Attempt::kDone;
}

Result<TreeCopier::Attempt> TreeCopier::CopyFile(const std::string& name) {
  const os::Fd source = OpenEntry(here().source, name, 0);
  if (!source.valid()) {
    if (IsReplaced(errno)) return Attempt::kReplaced;
    if (IsGone(errno)) {
      ++summary_.changed;
    } else if (errno == EXDEV) {
      ++summary_.mounts;
    } else {
      return Fail(Error::FromErrno(errno, "cannot open a file"));
    }
    return Attempt::kDone;
  }
  struct stat info{};
  if (fstat(source.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot examine a file"));
  if (!S_ISREG(info.st_mode)) return Attempt::kReplaced;
  CAISSON_TRY(const bool is_linked, LinkToEarlier(name, info));
  if (!is_linked) CAISSON_CHECK_OK(MakeFile(name, source, info));
  return Attempt::kDone;
}

Status TreeCopier::MakeFile(const std::string& name, const os::Fd& source, const struct stat& info) {
  const os::Fd target(
      openat(here().target.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!target.valid()) {
    if (errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot make a file"));
    ++summary_.changed;  // a changing folder can list a name twice
    return {};
  }
  CAISSON_TRY(const FileContent::Way way, content_.Copy(source, target, info.st_size, HolesOf(info)));
  CAISSON_CHECK_OK(attributes_.Give(source, target, info));
  ++summary_.files;
  if (way == FileContent::Way::kShared) ++summary_.shared_files;
  return RememberForLinks(name, info);
}

Result<TreeCopier::Attempt> TreeCopier::CopyByName(const std::string& name, const struct stat& info) {
  CAISSON_TRY(const bool is_linked, LinkToEarlier(name, info));
  if (is_linked) return Attempt::kDone;
  std::array<char, PATH_MAX> text{};
  const bool is_link = S_ISLNK(info.st_mode);
  if (is_link && readlinkat(here().source.get(), name.c_str(), text.data(), text.size() - 1) < 0) {
    if (IsGone(errno) || errno == EINVAL) return Attempt::kReplaced;
    return Fail(Error::FromErrno(errno, "cannot read a symbolic link"));
  }
  const int made = is_link ? symlinkat(text.data(), here().target.get(), name.c_str())
                           : mkfifoat(here().target.get(), name.c_str(), 0600);
  if (made != 0) {
    if (errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot make an entry"));
    ++summary_.changed;
    return Attempt::kDone;
  }
  CAISSON_CHECK_OK(attributes_.GiveByName(here().target, name, info));
  ++(is_link ? summary_.symbolic_links : summary_.fifos);
  CAISSON_CHECK_OK(RememberForLinks(name, info));
  return Attempt::kDone;
}

void TreeCopier::LeaveOut(const std::string& name) {
  ++summary_.left_out;
  if (summary_.left_out_paths.size() < kMaxLeftOutPaths) summary_.left_out_paths.push_back(PathTo(name));
}

Status TreeCopier::EnterFolder(const std::string& name) {
  os::Fd source = OpenEntry(here().source, name, O_DIRECTORY);
  if (!source.valid()) {
    if (errno == EXDEV) return MakeMountPoint(name);
    if (!IsGone(errno) && !IsReplaced(errno)) return Fail(Error::FromErrno(errno, "cannot open a folder"));
    ++summary_.changed;
    return {};
  }
  struct stat info{};
  if (fstat(source.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot examine a folder"));
  if (IdOf(info) == top_target_) {
    return Fail(Error(Code::kInvalidArgument, "a folder cannot be copied into itself"));
  }
  if (mkdirat(here().target.get(), name.c_str(), 0700) != 0) {
    if (errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot make a folder"));
    ++summary_.changed;
    return {};
  }
  os::Fd target(openat(here().target.get(), name.c_str(), kDirectory));
  if (!target.valid()) return Fail(Error::FromErrno(errno, "cannot open a folder of the copy"));
  ++summary_.folders;
  return PushLevel(name, std::move(source), std::move(target), info);
}

// Nothing asks the mount what it is: it may be one that never answers.
Status TreeCopier::MakeMountPoint(const std::string& name) {
  ++summary_.mounts;
  const os::Fd& folder = here().target;
  if (mkdirat(folder.get(), name.c_str(), 0700) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make the folder of a mount point"));
  }
  struct stat info = here().info;
  info.st_mode = S_IFDIR | 0755;
  return attributes_.GiveByName(folder, name, info);
}

Status TreeCopier::PushLevel(std::string name, os::Fd source, os::Fd target, const struct stat& info) {
  if (levels_.size() >= kMaxDepth) {
    return Fail(Error(Code::kResourceExhausted, "folders lie deeper in each other than " + std::to_string(kMaxDepth)));
  }
  struct stat made{};
  if (fstat(target.get(), &made) != 0) return Fail(Error::FromErrno(errno, "cannot examine a folder of the copy"));
  levels_.push_back({.name = std::move(name),
                     .source = std::move(source),
                     .target = std::move(target),
                     .info = info,
                     .target_id = IdOf(made),
                     .folders = {}});
  if (levels_.size() > kOpenLevels) {
    Level& far = levels_[levels_.size() - 1 - kOpenLevels];
    far.source.Reset();
    far.target.Reset();
  }
  return {};
}

Status TreeCopier::LeaveFolder() {
  const Level left = std::move(here());
  levels_.pop_back();
  // The time comes last: making an entry would change it.
  CAISSON_CHECK_OK(attributes_.Give(left.source, left.target, left.info));
  if (levels_.empty() || here().source.valid()) return {};
  return OpenAgain(here(), left);
}

Status TreeCopier::OpenAgain(Level& level, const Level& below) const {
  level.source.Reset(openat(below.source.get(), "..", kDirectory));
  level.target.Reset(openat(below.target.get(), "..", kDirectory));
  struct stat source{};
  struct stat target{};
  if (!level.source.valid() || !level.target.valid() || fstat(level.source.get(), &source) != 0 ||
      fstat(level.target.get(), &target) != 0) {
    return Fail(Error::FromErrno(errno, "cannot go back to a folder"));
  }
  // Elsewhere is nothing that anybody asked to copy.
  if (IdOf(source) != IdOf(level.info) || IdOf(target) != level.target_id) {
    return Fail(Error(Code::kConflict, "a folder was moved while it was copied").Retryable());
  }
  if (lseek(level.source.get(), level.offset, SEEK_SET) < 0) {
    return Fail(Error::FromErrno(errno, "cannot go on with the listing of a folder"));
  }
  return {};
}

Result<bool> TreeCopier::LinkToEarlier(const std::string& name, const struct stat& info) {
  if (info.st_nlink < 2) return false;
  const std::string key = LinkKey(info);
  if (linkat(links_.get(), key.c_str(), here().target.get(), name.c_str(), 0) == 0) {
    ++summary_.hard_links;
    return true;
  }
  if (errno == ENOENT) return false;
  if (errno == EMLINK) {
    // It takes no more names: the next ones get a second copy.
    if (unlinkat(links_.get(), key.c_str(), 0) != 0) return Fail(Error::FromErrno(errno, "cannot forget a file"));
    ++summary_.separated_links;
    return false;
  }
  if (errno == EEXIST) return false;  // making it says so again
  return Fail(Error::FromErrno(errno, "cannot make a hard link"));
}

Status TreeCopier::RememberForLinks(const std::string& name, const struct stat& info) {
  if (info.st_nlink < 2) return {};
  if (linked_files_ < options_.max_linked_files) {
    ++linked_files_;
    if (linkat(here().target.get(), name.c_str(), links_.get(), LinkKey(info).c_str(), 0) == 0) return {};
    // Some file systems have no hard links.
    if (errno != EPERM && errno != EOPNOTSUPP && errno != EEXIST) {
      return Fail(Error::FromErrno(errno, "cannot note a file of several names"));
    }
  }
  ++summary_.separated_links;
  return {};
}

Error TreeCopier::AtEntry(Error error, const std::string& name) const {
  return std::move(error).Context("copying " + Quoted(PathTo(name)));
}

std::string TreeCopier::PathTo(const std::string& name) const {
  std::string path;
  for (const Level& level : levels_) {
    if (!level.name.empty()) path += level.name + "/";
    if (path.size() > PATH_MAX) break;
  }
  return path + name;
}

}  // namespace caisson::storage
