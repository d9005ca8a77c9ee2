#include "caisson/storage/host_image.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "caisson/base/id.h"
#include "caisson/os/fd.h"
#include "caisson/os/folder_lock.h"
#include "caisson/storage/host_etc.h"
#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr std::uint32_t kAgent = 1000;
constexpr std::array kProgramFolders = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"};

constexpr std::string_view kPrefix = "host-";

// Raised when what is made here changes.
constexpr std::uint64_t kLayout = 2;

// Settings of the host whose change makes a new skeleton.
constexpr std::array kWatched = {
    "etc", "etc/alternatives", "etc/ssl/certs", "etc/ld.so.cache", "etc/profile.d", "etc/os-release", "usr", "bin",
    "lib"};

class Digest {  // FNV-1a: names a version of the settings, guards nothing
 public:
  void Add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) {
      hash_ = (hash_ ^ ((value >> (8 * i)) & 0xffU)) * 0x100000001b3ULL;
    }
  }
  std::string Hex() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash_));
    return text.data();
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::string HostSkeletonName(int host_root) {
  Digest digest;
  digest.Add(kLayout);
  for (const char* path : kWatched) {
    struct stat info{};
    if (fstatat(host_root, path, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    digest.Add(info.st_ino);
    digest.Add(info.st_mode);
    digest.Add(static_cast<std::uint64_t>(info.st_mtim.tv_sec));
    digest.Add(static_cast<std::uint64_t>(info.st_mtim.tv_nsec));
  }
  return std::string(kPrefix) + digest.Hex();
}

namespace {

struct Folder {
  const char* path;
  mode_t mode;
  std::uint32_t owner;
};

constexpr std::array<Folder, 18> kFolders = {{
    {"dev", 0755, 0},
    {"home", 0755, 0},
    {"home/agent", 0755, kAgent},
    {"home/agent/workspace", 0755, kAgent},
    {"media", 0755, 0},
    {"mnt", 0755, 0},
    {"opt", 0755, 0},
    {"proc", 0555, 0},
    {"root", 0700, 0},
    {"run", 0755, 0},
    {"run/lock", 01777, 0},
    {"srv", 0755, 0},
    {"sys", 0555, 0},
    {"tmp", 01777, 0},
    {"var", 0755, 0},
    {"var/lib", 0755, 0},
    {"var/log", 0755, 0},
    {"var/tmp", 01777, 0},
}};

Status MakeFolders(int skeleton) {
  for (const Folder& folder : kFolders) {
    if (mkdirat(skeleton, folder.path, folder.mode) != 0 || fchmodat(skeleton, folder.path, folder.mode, 0) != 0 ||
        fchownat(skeleton, folder.path, folder.owner, folder.owner, 0) != 0) {
      return Fail(Error::FromErrno(errno, std::string("cannot make the folder ") + folder.path));
    }
  }
  return {};
}

// The type of what the host has there, 0 for nothing. Only what is not there may be left out of an image.
Result<mode_t> TypeOf(int host_root, const char* name) {
  struct stat info{};
  if (fstatat(host_root, name, &info, AT_SYMLINK_NOFOLLOW) == 0) return info.st_mode & S_IFMT;
  if (errno == ENOENT) return mode_t{0};
  return Fail(Error::FromErrno(errno, std::string("cannot look at the host's folder ") + name));
}

// A program folder of the host is a link in the skeleton where it is one on the host, and else an empty mount point.
Status MakeProgramFolders(int host_root, int skeleton) {
  for (const char* name : kProgramFolders) {
    CAISSON_TRY(const mode_t type, TypeOf(host_root, name));
    if (type == S_IFDIR) {
      if (mkdirat(skeleton, name, 0755) == 0 || errno == EEXIST) continue;
      return Fail(Error::FromErrno(errno, std::string("cannot make the folder ") + name));
    }
    if (type != S_IFLNK) continue;
    std::array<char, PATH_MAX> target{};
    if (readlinkat(host_root, name, target.data(), target.size() - 1) < 0) {
      return Fail(Error::FromErrno(errno, std::string("cannot read the host's link ") + name));
    }
    if (symlinkat(target.data(), skeleton, name) != 0 && errno != EEXIST) {
      return Fail(Error::FromErrno(errno, std::string("cannot make the link ") + name));
    }
  }
  return {};
}

// Makes an empty folder that is locked as long as its descriptor is open: one without a lock was left half-made.
Result<os::Fd> MakeUnfinished(const os::Fd& images, const std::string& name) {
  CAISSON_TRY(const os::Fd lock, os::LockFolder(images, LOCK_SH));
  if (mkdirat(images.get(), name.c_str(), 0755) != 0)
    return Fail(Error::FromErrno(errno, "cannot make the host image"));
  os::Fd skeleton = os::TryOwnFolder(images, name);
  if (!skeleton.valid()) return Fail(Error::FromErrno(errno, "cannot open the host image"));
  return skeleton;
}

Status FillSkeleton(int host_root, const os::Fd& skeleton) {
  CAISSON_CHECK_OK(MakeFolders(skeleton.get()));
  CAISSON_CHECK_OK(MakeProgramFolders(host_root, skeleton.get()));
  return MakeHostEtc(host_root, skeleton.get());
}

// A name below `images` for a skeleton that is not yet or no longer one. Not by pid: every launcher is number 1 of its
// own namespace.
std::string UnfinishedName(const std::string& name) { return name + ".new." + SandboxId::Random().text(); }

Status MakeSkeleton(int host_root, const os::Fd& images, const std::string& name) {
  const std::string unfinished = UnfinishedName(name);
  CAISSON_TRY(const os::Fd skeleton, MakeUnfinished(images, unfinished));
  if (const Status filled = FillSkeleton(host_root, skeleton); !filled) {
    (void)RemoveTree(images.get(), unfinished.c_str());
    return filled;
  }
  if (renameat2(images.get(), unfinished.c_str(), images.get(), name.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot put the host image in place"));
  return RemoveTree(images.get(), unfinished.c_str());  // somebody else was first
}

// Keeps the skeleton `name` from being removed. Invalid when there is none, also because it was just removed.
Result<os::Fd> UseSkeleton(const os::Fd& images, const std::string& name) {
  os::Fd skeleton(openat(images.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!skeleton.valid()) {
    if (errno == ENOENT) return os::Fd();
    return Fail(Error::FromErrno(errno, "cannot open the host image"));
  }
  CAISSON_CHECK_OK(os::Lock(skeleton, LOCK_SH));
  if (!os::IsStillAt(skeleton, images, name)) skeleton.Reset();
  return skeleton;
}

Result<os::Fd> MakeAndUseSkeleton(int host_root, const os::Fd& images, const std::string& name) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    CAISSON_TRY(os::Fd use, UseSkeleton(images, name));
    if (use.valid()) return use;
    const mode_t previous = umask(0022);
    const Status made = MakeSkeleton(host_root, images, name);
    umask(previous);
    CAISSON_CHECK_OK(made);
  }
  return Fail(Error(Code::kConflict, "the host image is removed as soon as it is made"));
}

}  // namespace

Result<HostImage> PrepareHostImage(int host_root, int images) {
  const os::Fd folder(openat(images, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder of images"));
  HostImage image{.skeleton = HostSkeletonName(host_root), .folders = {}, .use = {}};
  CAISSON_TRY(image.use, MakeAndUseSkeleton(host_root, folder, image.skeleton));
  for (const char* name : kProgramFolders) {
    CAISSON_TRY(const mode_t type, TypeOf(host_root, name));
    if (type == S_IFDIR) image.folders.emplace_back(name);
  }
  return image;
}

std::vector<Skeleton> FindSkeletons(const os::Fd& images, const std::string& current) {
  std::vector<Skeleton> found;
  const auto lock = os::LockFolder(images, LOCK_EX);
  if (!lock) return found;
  for (const std::string& name : os::NamesIn(images)) {
    if (!name.starts_with(kPrefix)) continue;
    const SkeletonUse free = name == current ? SkeletonUse::kCurrent : SkeletonUse::kLeftOver;
    found.push_back({name, os::TryOwnFolder(images, name).valid() ? free : SkeletonUse::kInUse});
  }
  return found;
}

Result<bool> RemoveSkeleton(const os::Fd& images, const std::string& name, const Deadline& deadline) {
  os::Fd own;
  {
    CAISSON_TRY(const os::Fd lock, os::LockFolder(images, LOCK_EX));
    own = os::TryOwnFolder(images, name);
  }
  if (!own.valid()) return false;
  std::string going = name;
  if (name.find(".new.") == std::string::npos) {
    // Nobody may take a half-removed one for whole, whatever ends this process.
    going = UnfinishedName(name);
    if (renameat2(images.get(), name.c_str(), images.get(), going.c_str(), RENAME_NOREPLACE) != 0) {
      return Fail(Error::FromErrno(errno, "cannot take the image " + name + " out of use"));
    }
  }
  CAISSON_CHECK_OK(RemoveTree(images.get(), going.c_str(), deadline));
  return true;
}

}  // namespace caisson::storage
