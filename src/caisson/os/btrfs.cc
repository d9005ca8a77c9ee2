#include "caisson/os/btrfs.h"

#include <endian.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <span>

#include "caisson/os/uapi.h"

namespace caisson::os {
namespace {

constexpr std::uint64_t kLastOffset = std::numeric_limits<std::uint64_t>::max();

// One btrfs_qgroup_inherit with one group: flags, count of groups, two counts of copies, a limit of five words, the
// group.
using InheritOne = std::array<std::uint64_t, 10>;
static_assert(sizeof(InheritOne) == sizeof(btrfs_qgroup_inherit) + sizeof(std::uint64_t));

Status SetName(btrfs_ioctl_vol_args_v2& arguments, const std::string& name) {
  if (name.empty() || name.size() > BTRFS_SUBVOL_NAME_MAX) {
    return Fail(Error(Code::kInvalidArgument, "the name of a subvolume is empty or too long"));
  }
  std::copy(name.begin(), name.end(), arguments.name);
  return {};
}

Status Create(const Fd& parent, unsigned long request, btrfs_ioctl_vol_args_v2& arguments, const std::string& name,
              std::optional<QuotaGroup> group) {
  CAISSON_CHECK_OK(SetName(arguments, name));
  InheritOne inherit{};
  if (group) {
    inherit[1] = 1;
    inherit[9] = group->value;
    arguments.flags |= BTRFS_SUBVOL_QGROUP_INHERIT;
    arguments.size = sizeof inherit;
    arguments.qgroup_inherit = reinterpret_cast<btrfs_qgroup_inherit*>(inherit.data());
  }
  if (ioctl(parent.get(), request, &arguments) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make the subvolume " + name));
  }
  return {};
}

// Visits the items (object, type, offset) with first <= offset <= last of a tree, in their order.
Status VisitItems(const Fd& fs, std::uint64_t tree, std::uint64_t object, std::uint32_t type, std::uint64_t first,
                  std::uint64_t last,
                  const std::function<void(std::uint64_t offset, std::span<const std::byte> data)>& visit) {
  // In words, because the kernel's structure wants its alignment.
  std::vector<std::uint64_t> memory(8192);
  auto* search = reinterpret_cast<btrfs_ioctl_search_args_v2*>(memory.data());
  while (true) {
    search->key = {};
    search->key.tree_id = tree;
    search->key.min_objectid = search->key.max_objectid = object;
    search->key.min_type = search->key.max_type = type;
    search->key.min_offset = first;
    search->key.max_offset = last;
    search->key.max_transid = kLastOffset;
    search->key.nr_items = std::numeric_limits<std::uint32_t>::max();
    search->buf_size = memory.size() * sizeof memory[0] - sizeof *search;
    if (ioctl(fs.get(), BTRFS_IOC_TREE_SEARCH_V2, search) != 0) {
      return Fail(Error::FromErrno(errno, "cannot read a tree of the btrfs file system"));
    }
    if (search->key.nr_items == 0) return {};
    const std::byte* at = reinterpret_cast<const std::byte*>(search->buf);
    btrfs_ioctl_search_header header{};
    for (std::uint32_t i = 0; i < search->key.nr_items; ++i) {
      std::memcpy(&header, at, sizeof header);
      at += sizeof header;
      visit(header.offset, {at, header.len});
      at += header.len;
    }
    if (header.offset >= last) return {};
    first = header.offset + 1;
  }
}

template <typename Item>
std::optional<Item> As(std::span<const std::byte> data) {
  Item item;
  if (data.size() < sizeof item) return std::nullopt;
  std::memcpy(&item, data.data(), sizeof item);
  return item;
}

}  // namespace

bool IsBtrfs(const Fd& file) {
  struct statfs info{};
  return fstatfs(file.get(), &info) == 0 && info.f_type == BTRFS_SUPER_MAGIC;
}

Status CreateSubvolume(const Fd& parent, const std::string& name, std::optional<QuotaGroup> group) {
  btrfs_ioctl_vol_args_v2 arguments{};
  return Create(parent, BTRFS_IOC_SUBVOL_CREATE_V2, arguments, name, group);
}

Status CreateSnapshot(const Fd& parent, const std::string& name, const Fd& source, QuotaGroup group) {
  btrfs_ioctl_vol_args_v2 arguments{};
  arguments.fd = source.get();
  arguments.flags = BTRFS_SUBVOL_RDONLY;
  return Create(parent, BTRFS_IOC_SNAP_CREATE_V2, arguments, name, group);
}

Status DeleteSubvolume(const Fd& parent, const std::string& name) {
  btrfs_ioctl_vol_args_v2 arguments{};
  CAISSON_CHECK_OK(SetName(arguments, name));
  if (ioctl(parent.get(), BTRFS_IOC_SNAP_DESTROY_V2, &arguments) != 0) {
    return Fail(Error::FromErrno(errno, "cannot delete the subvolume " + name));
  }
  return {};
}

Status DeleteSubvolume(const Fd& fs, SubvolumeId subvolume) {
  btrfs_ioctl_vol_args_v2 arguments{};
  arguments.flags = BTRFS_SUBVOL_SPEC_BY_ID;
  arguments.subvolid = subvolume.value;
  if (ioctl(fs.get(), BTRFS_IOC_SNAP_DESTROY_V2, &arguments) != 0) {
    return Fail(Error::FromErrno(errno, "cannot delete the subvolume " + std::to_string(subvolume.value)));
  }
  return {};
}

Result<SubvolumeId> SubvolumeOf(const Fd& file) {
  btrfs_ioctl_ino_lookup_args arguments{};
  arguments.objectid = BTRFS_FIRST_FREE_OBJECTID;
  if (ioctl(file.get(), BTRFS_IOC_INO_LOOKUP, &arguments) != 0) {
    return Fail(Error::FromErrno(errno, "cannot ask which subvolume holds a file"));
  }
  return SubvolumeId{arguments.treeid};
}

Result<bool> SubvolumeExists(const Fd& fs, SubvolumeId subvolume) {
  bool exists = false;
  CAISSON_CHECK_OK(VisitItems(fs, BTRFS_ROOT_TREE_OBJECTID, subvolume.value, BTRFS_ROOT_ITEM_KEY, 0, kLastOffset,
                              [&exists](std::uint64_t, std::span<const std::byte>) { exists = true; }));
  return exists;
}

Result<std::vector<SubvolumeId>> NestedSubvolumes(const Fd& fs, SubvolumeId subvolume) {
  std::vector<SubvolumeId> nested;
  CAISSON_CHECK_OK(
      VisitItems(fs, BTRFS_ROOT_TREE_OBJECTID, subvolume.value, BTRFS_ROOT_REF_KEY, 0, kLastOffset,
                 [&nested](std::uint64_t child, std::span<const std::byte>) { nested.push_back(SubvolumeId{child}); }));
  return nested;
}

Result<QuotaState> ReadQuotaState(const Fd& fs) {
  QuotaState state;
  const Status visited = VisitItems(
      fs, BTRFS_QUOTA_TREE_OBJECTID, 0, BTRFS_QGROUP_STATUS_KEY, 0, 0,
      [&state](std::uint64_t, std::span<const std::byte> data) {
        const auto item = As<btrfs_qgroup_status_item>(data);
        const std::uint64_t flags = item ? le64toh(item->flags) : 0;
        if ((flags & BTRFS_QGROUP_STATUS_FLAG_ON) == 0) return;
        state.mode = (flags & uapi::kBtrfsQuotaSimpleMode) != 0 ? QuotaMode::kSimple : QuotaMode::kClassic;
        state.consistent = (flags & (BTRFS_QGROUP_STATUS_FLAG_INCONSISTENT | BTRFS_QGROUP_STATUS_FLAG_RESCAN)) == 0;
      });
  // The tree of quotas exists only while they are on.
  if (!visited && visited.error().errno_value() != ENOENT) return Fail(visited.error());
  return state;
}

Status EnableQuotas(const Fd& fs) {
  btrfs_ioctl_quota_ctl_args arguments{};
  arguments.cmd = uapi::kBtrfsQuotaEnableSimple;
  if (ioctl(fs.get(), BTRFS_IOC_QUOTA_CTL, &arguments) == 0 || errno == EEXIST) return {};
  // Linux before 6.7 knows only the classic ones.
  arguments.cmd = BTRFS_QUOTA_CTL_ENABLE;
  if (ioctl(fs.get(), BTRFS_IOC_QUOTA_CTL, &arguments) == 0 || errno == EEXIST) return {};
  return Fail(Error::FromErrno(errno, "cannot enable the quotas of a btrfs file system"));
}

Status StartQuotaRescan(const Fd& fs) {
  btrfs_ioctl_quota_rescan_args arguments{};
  if (ioctl(fs.get(), BTRFS_IOC_QUOTA_RESCAN, &arguments) == 0 || errno == EINPROGRESS) return {};
  return Fail(Error::FromErrno(errno, "cannot start counting what quota groups hold"));
}

Status CreateQuotaGroup(const Fd& fs, QuotaGroup group) {
  btrfs_ioctl_qgroup_create_args arguments{};
  arguments.create = 1;
  arguments.qgroupid = group.value;
  if (ioctl(fs.get(), BTRFS_IOC_QGROUP_CREATE, &arguments) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot make a quota group"));
}

Status RemoveQuotaGroup(const Fd& fs, QuotaGroup group) {
  btrfs_ioctl_qgroup_create_args arguments{};
  arguments.qgroupid = group.value;
  if (ioctl(fs.get(), BTRFS_IOC_QGROUP_CREATE, &arguments) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot remove a quota group"));
}

Status LeaveQuotaGroup(const Fd& fs, SubvolumeId subvolume, QuotaGroup group) {
  btrfs_ioctl_qgroup_assign_args arguments{};
  arguments.src = QuotaGroup::Of(subvolume).value;
  arguments.dst = group.value;
  // A positive answer asks for a rescan.
  if (ioctl(fs.get(), BTRFS_IOC_QGROUP_ASSIGN, &arguments) >= 0) return {};
  return Fail(Error::FromErrno(errno, "cannot take a subvolume out of its quota group"));
}

Status LimitQuotaGroup(const Fd& fs, QuotaGroup group, Bytes limit) {
  btrfs_ioctl_qgroup_limit_args arguments{};
  arguments.qgroupid = group.value;
  arguments.lim.flags = BTRFS_QGROUP_LIMIT_MAX_RFER;
  arguments.lim.max_rfer = limit.value;
  if (ioctl(fs.get(), BTRFS_IOC_QGROUP_LIMIT, &arguments) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot limit a quota group"));
}

Result<std::optional<QuotaGroup>> ParentGroup(const Fd& fs, SubvolumeId subvolume) {
  std::optional<QuotaGroup> parent;
  CAISSON_CHECK_OK(VisitItems(fs, BTRFS_QUOTA_TREE_OBJECTID, subvolume.value, BTRFS_QGROUP_RELATION_KEY,
                              QuotaGroup::Of(1, 0).value, kLastOffset,
                              [&parent](std::uint64_t group, std::span<const std::byte>) {
                                if (!parent) parent = QuotaGroup{group};
                              }));
  return parent;
}

Result<std::vector<QuotaGroup>> GroupMembers(const Fd& fs, QuotaGroup group) {
  std::vector<QuotaGroup> members;
  // The tree holds each relation in both directions.
  const std::uint64_t last = (group.value >> 48U << 48U) - 1;
  CAISSON_CHECK_OK(
      VisitItems(fs, BTRFS_QUOTA_TREE_OBJECTID, group.value, BTRFS_QGROUP_RELATION_KEY, 0, last,
                 [&members](std::uint64_t member, std::span<const std::byte>) { members.push_back({member}); }));
  return members;
}

Result<std::vector<QuotaUsage>> ReadQuotaUsage(const Fd& fs, QuotaGroup first, QuotaGroup last) {
  std::vector<QuotaUsage> usages;
  CAISSON_CHECK_OK(VisitItems(fs, BTRFS_QUOTA_TREE_OBJECTID, 0, BTRFS_QGROUP_INFO_KEY, first.value, last.value,
                              [&usages](std::uint64_t group, std::span<const std::byte> data) {
                                const auto item = As<btrfs_qgroup_info_item>(data);
                                if (item) usages.push_back({{group}, {le64toh(item->rfer)}, {}});
                              }));
  auto next = usages.begin();
  CAISSON_CHECK_OK(VisitItems(fs, BTRFS_QUOTA_TREE_OBJECTID, 0, BTRFS_QGROUP_LIMIT_KEY, first.value, last.value,
                              [&](std::uint64_t group, std::span<const std::byte> data) {
                                const auto item = As<btrfs_qgroup_limit_item>(data);
                                while (next != usages.end() && next->group.value < group) ++next;
                                if (!item || next == usages.end() || next->group.value != group) return;
                                if ((le64toh(item->flags) & BTRFS_QGROUP_LIMIT_MAX_RFER) == 0) return;
                                next->limit = {le64toh(item->max_rfer)};
                              }));
  return usages;
}

Status GrowToDevice(const Fd& fs) {
  btrfs_ioctl_vol_args arguments{};
  std::strcpy(arguments.name, "max");
  if (ioctl(fs.get(), BTRFS_IOC_RESIZE, &arguments) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot grow a btrfs file system"));
}

Result<std::string> FirstDevice(const Fd& fs) {
  btrfs_ioctl_dev_info_args arguments{};
  arguments.devid = 1;
  if (ioctl(fs.get(), BTRFS_IOC_DEV_INFO, &arguments) != 0) {
    return Fail(Error::FromErrno(errno, "cannot ask for the device of a btrfs file system"));
  }
  const char* path = reinterpret_cast<const char*>(arguments.path);
  return std::string(path, strnlen(path, sizeof arguments.path));
}

Status SyncFileSystem(const Fd& fs) {
  if (ioctl(fs.get(), BTRFS_IOC_SYNC, nullptr) == 0) return {};
  return Fail(Error::FromErrno(errno, "cannot write out a btrfs file system"));
}

}  // namespace caisson::os
