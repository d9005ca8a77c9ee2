#include "caisson/storage/host_image.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "caisson/base/id.h"
#include "caisson/os/fd.h"
#include "caisson/storage/host_etc.h"
#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr std::uint32_t kAgent = 1000;
constexpr std::array kProgramFolders = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"};

// Raised when what is made here changes.
constexpr std::uint64_t kLayout = 1;

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

std::string NameOfVersion(int host_root) {
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
  return "host-" + digest.Hex();
}

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

// A program folder of the host is a link in the skeleton where it is one on the host, and else an empty mount point.
Status MakeProgramFolders(int host_root, int skeleton) {
  for (const char* name : kProgramFolders) {
    struct stat info{};
    if (fstatat(host_root, name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      if (mkdirat(skeleton, name, 0755) == 0 || errno == EEXIST) continue;
      return Fail(Error::FromErrno(errno, std::string("cannot make the folder ") + name));
    }
    std::array<char, PATH_MAX> target{};
    if (!S_ISLNK(info.st_mode) || readlinkat(host_root, name, target.data(), target.size() - 1) < 0) continue;
    if (symlinkat(target.data(), skeleton, name) != 0 && errno != EEXIST) {
      return Fail(Error::FromErrno(errno, std::string("cannot make the link ") + name));
    }
  }
  return {};
}

Status FillSkeleton(int host_root, int images, const std::string& unfinished) {
  if (mkdirat(images, unfinished.c_str(), 0755) != 0)
    return Fail(Error::FromErrno(errno, "cannot make the host image"));
  const os::Fd skeleton(openat(images, unfinished.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!skeleton.valid()) return Fail(Error::FromErrno(errno, "cannot open the host image"));
  CAISSON_CHECK_OK(MakeFolders(skeleton.get()));
  CAISSON_CHECK_OK(MakeProgramFolders(host_root, skeleton.get()));
  return MakeHostEtc(host_root, skeleton.get());
}

Status MakeSkeleton(int host_root, int images, const std::string& name) {
  // Not by pid: every launcher is number 1 of its own namespace.
  const std::string unfinished = name + ".new." + SandboxId::Random().text();
  if (const Status filled = FillSkeleton(host_root, images, unfinished); !filled) {
    (void)RemoveTree(images, unfinished.c_str());
    return filled;
  }
  if (renameat2(images, unfinished.c_str(), images, name.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot put the host image in place"));
  return RemoveTree(images, unfinished.c_str());  // somebody else was first
}

}  // namespace

Result<HostImage> PrepareHostImage(int host_root, int images) {
  HostImage image{.skeleton = NameOfVersion(host_root), .folders = {}};
  struct stat info{};
  if (fstatat(images, image.skeleton.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    const mode_t previous = umask(0022);
    const Status made = MakeSkeleton(host_root, images, image.skeleton);
    umask(previous);
    CAISSON_CHECK_OK(made);
  }
  for (const char* name : kProgramFolders) {
    if (fstatat(host_root, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode))
      image.folders.emplace_back(name);
  }
  return image;
}

}  // namespace caisson::storage
