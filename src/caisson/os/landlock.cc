#include "caisson/os/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>

#include "caisson/os/uapi.h"

namespace caisson::os {
namespace {

std::uint64_t RightsOfAbi(int abi) {
  std::uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;  // version 1: the lowest 13
  if (abi >= 2) rights |= uapi::kLandlockRefer;
  if (abi >= 3) rights |= uapi::kLandlockTruncate;
  if (abi >= 5) rights |= uapi::kLandlockIoctlDev;
  return rights;
}

// The rights that the kernel takes for anything but a folder.
constexpr std::uint64_t kRightsOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                         LANDLOCK_ACCESS_FS_READ_FILE | uapi::kLandlockTruncate |
                                         uapi::kLandlockIoctlDev;

}  // namespace

int LandlockAbi() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

Result<LandlockRules> LandlockRules::Make() {
  const int abi = LandlockAbi();
  if (abi == 0) {
    return Fail(Error(Code::kUnsupported, "the kernel has no Landlock")
                    .Remedy("boot with lsm=landlock,... or a kernel with CONFIG_SECURITY_LANDLOCK"));
  }
  const std::uint64_t handled = RightsOfAbi(abi);
  const landlock_ruleset_attr attributes{.handled_access_fs = handled};
  const long fd = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (fd < 0) return Fail(Error::FromErrno(errno, "cannot make Landlock rules"));
  return LandlockRules(Fd(static_cast<int>(fd)), handled);
}

Status LandlockRules::Allow(const char* path, std::uint64_t rights) {
  const Fd place(open(path, O_PATH | O_CLOEXEC));
  if (!place.valid()) return Fail(Error::FromErrno(errno, std::string("cannot open ") + path));
  Status allowed = AllowPlace(place, rights);
  return allowed ? allowed : Status(Fail(std::move(allowed).error().Context(path)));
}

Status LandlockRules::AllowPlace(const Fd& place, std::uint64_t rights) {
  struct stat info{};
  if (fstat(place.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read what a Landlock rule is for"));
  if (!S_ISDIR(info.st_mode)) rights &= kRightsOfFiles;
  rights &= handled_;
  if (rights == 0) return {};
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = place.get()};
  if (syscall(SYS_landlock_add_rule, rules_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    return Fail(Error::FromErrno(errno, "cannot add a Landlock rule"));
  }
  return {};
}

}  // namespace caisson::os
