#include "caisson/storage/entry_attributes.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace caisson::storage {
namespace {

constexpr std::size_t kMaxNames = 64U << 10U;  // xattr(7): neither a list nor a value is longer
constexpr std::size_t kMaxValue = 64U << 10U;
constexpr std::uint64_t kMaxValues = 256U << 10U;  // of one entry
constexpr mode_t kKeptBits = S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO;

Error CannotSet(const char* what, int errno_value) {
  return Error::FromErrno(errno_value, std::string("cannot set the ") + what + " of an entry of the copy");
}

std::array<timespec, 2> Times(const struct stat& info) {
  return {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, info.st_mtim};
}

bool IsUsers(std::string_view name) { return name.starts_with("user."); }

constexpr std::string_view kAccessList = "system.posix_acl_access";
constexpr std::string_view kDefaultList = "system.posix_acl_default";

}  // namespace

EntryAttributes::EntryAttributes(uid_t owner, gid_t group, CopyMeter& meter, CopySummary& summary)
    : owner_(owner),
      group_(group),
      meter_(meter),
      summary_(summary),
      names_(new char[kMaxNames + 1]),
      value_(new char[kMaxValue]) {}

mode_t EntryAttributes::PermissionBits(const struct stat& info) {
  if ((info.st_mode & (S_ISUID | S_ISGID)) != 0) ++summary_.dropped_set_id;
  return info.st_mode & kKeptBits;
}

Status EntryAttributes::Give(const os::Fd& source, const os::Fd& target, const struct stat& info) {
  const bool is_others = info.st_uid != owner_ || info.st_gid != group_;
  if (is_others && fchown(target.get(), info.st_uid, info.st_gid) != 0) return Fail(CannotSet("owner", errno));
  CAISSON_TRY(const mode_t excess, GiveExtended(source, target));
  if (fchmod(target.get(), PermissionBits(info) & ~excess) != 0) return Fail(CannotSet("mode", errno));
  if (futimens(target.get(), Times(info).data()) != 0) return Fail(CannotSet("time", errno));
  return {};
}

Status EntryAttributes::GiveByName(const os::Fd& folder, const std::string& name, const struct stat& info) {
  const bool is_others = info.st_uid != owner_ || info.st_gid != group_;
  if (is_others && fchownat(folder.get(), name.c_str(), info.st_uid, info.st_gid, AT_SYMLINK_NOFOLLOW) != 0) {
    return Fail(CannotSet("owner", errno));
  }
  // A link has no bits of its own, and this call would follow it.
  if (!S_ISLNK(info.st_mode) && fchmodat(folder.get(), name.c_str(), PermissionBits(info), 0) != 0) {
    return Fail(CannotSet("mode", errno));
  }
  if (utimensat(folder.get(), name.c_str(), Times(info).data(), AT_SYMLINK_NOFOLLOW) != 0) {
    return Fail(CannotSet("time", errno));
  }
  return {};
}

Result<mode_t> EntryAttributes::GiveExtended(const os::Fd& source, const os::Fd& target) {
  mode_t excess = 0;
  const ssize_t size = flistxattr(source.get(), names_.get(), kMaxNames);
  if (size < 0) {
    if (errno != EOPNOTSUPP && errno != ENOSYS) ++summary_.left_out_attributes;
    return excess;
  }
  names_[static_cast<std::size_t>(size)] = '\0';
  const std::uint64_t before = meter_.so_far().bytes.value;
  for (std::size_t start = 0; start < static_cast<std::size_t>(size);) {
    // Every name ends with a null byte.
    const char* name = names_.get() + start;
    start += std::strlen(name) + 1;
    // With a list, the bits of the group are the most that the list gives anybody: acl(5).
    if (name == kAccessList) excess = S_IRWXG;
    if (IsUsers(name) && meter_.so_far().bytes.value - before < kMaxValues) {
      CAISSON_CHECK_OK(GiveValue(source, target, name));
    } else if (IsUsers(name) || name == kAccessList || name == kDefaultList) {
      ++summary_.left_out_attributes;
    }
  }
  return excess;
}

Status EntryAttributes::GiveValue(const os::Fd& source, const os::Fd& target, const char* name) {
  const ssize_t size = fgetxattr(source.get(), name, value_.get(), kMaxValue);
  if (size < 0) {
    if (errno != ENODATA) ++summary_.left_out_attributes;
    return {};
  }
  CAISSON_CHECK_OK(meter_.AddBytes(static_cast<std::uint64_t>(size)));
  if (fsetxattr(target.get(), name, value_.get(), static_cast<std::size_t>(size), 0) == 0) return {};
  if (errno == EDQUOT || errno == EIO) return Fail(CannotSet("attributes", errno));
  // ENOSPC says that it does not fit beside the entry (ext4) more often than that the disk is full, which the next
  // write tells.
  ++summary_.left_out_attributes;
  return {};
}

}  // namespace caisson::storage
