#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// Typed calls on btrfs. `fs` is any directory or file of the file system, `parent` the folder that holds the name: no
// call walks a path. What a call changes is charged to the subvolume that holds `fs`: pass one without a limit, or the
// call fails with EDQUOT when that is full. All but IsBtrfs need CAP_SYS_ADMIN. Source: btrfs-ioctl(2), linux/btrfs.h,
// linux/btrfs_tree.h.

bool IsBtrfs(const Fd& file);

// ---- subvolumes

// The number of a subvolume, never used twice on one file system.
struct SubvolumeId {
  std::uint64_t value = 0;
  auto operator<=>(const SubvolumeId&) const = default;
};

// A quota group: level and number, written "1/42". Level 0 holds one group a subvolume, named by its id; the kernel
// makes it with the subvolume. Groups of higher levels count what their members hold together.
struct QuotaGroup {
  std::uint64_t value = 0;

  static constexpr QuotaGroup Of(std::uint16_t level, std::uint64_t number) {
    return {static_cast<std::uint64_t>(level) << 48U | number};
  }
  static constexpr QuotaGroup Of(SubvolumeId subvolume) { return {subvolume.value}; }
  auto operator<=>(const QuotaGroup&) const = default;
};

// Makes the subvolume `name` in `parent` as a member of `group` if any. A group that does not exist is an error of some
// kernels and ignored by others: ask ParentGroup. Commits nothing.
Status CreateSubvolume(const Fd& parent, const std::string& name, std::optional<QuotaGroup> group);
// Makes the read-only snapshot `name` of the subvolume that `source` is the root of. Commits a transaction.
Status CreateSnapshot(const Fd& parent, const std::string& name, const Fd& source, QuotaGroup group);
// Takes the subvolume `name` away at once; the kernel gives its space back later. Errors: ENOTEMPTY when it holds
// other subvolumes. Kernel: 5.7.
Status DeleteSubvolume(const Fd& parent, const std::string& name);
Status DeleteSubvolume(const Fd& fs, SubvolumeId subvolume);
// Of the subvolume that holds `file`.
Result<SubvolumeId> SubvolumeOf(const Fd& file);
// True until the kernel has given back the last of it, which is after its deletion.
Result<bool> SubvolumeExists(const Fd& fs, SubvolumeId subvolume);
// The subvolumes that lie directly in this one.
Result<std::vector<SubvolumeId>> NestedSubvolumes(const Fd& fs, SubvolumeId subvolume);

// ---- quotas

enum class QuotaMode {
  kOff,
  kClassic,  // counts what is reachable from each subvolume; costs with every shared extent
  kSimple,   // counts each extent for the subvolume that made it. Kernel: 6.7
};

struct QuotaState {
  QuotaMode mode = QuotaMode::kOff;
  bool consistent = true;  // classic: false when the numbers need a rescan
};
Result<QuotaState> ReadQuotaState(const Fd& fs);

// Simple where the kernel has it, else classic. Has no effect when quotas are on.
Status EnableQuotas(const Fd& fs);
// Classic only: counts everything again, in the background. One that runs already is not an error.
Status StartQuotaRescan(const Fd& fs);

// Errors: kAlreadyExists.
Status CreateQuotaGroup(const Fd& fs, QuotaGroup group);
// Errors: EBUSY while it has members or (simple) holds bytes; ENOENT.
Status RemoveQuotaGroup(const Fd& fs, QuotaGroup group);
// What the group's members may hold together. The kernel answers EDQUOT to what would exceed it.
Status LimitQuotaGroup(const Fd& fs, QuotaGroup group, Bytes limit);
// The lowest group of a higher level that the subvolume is a member of.
Result<std::optional<QuotaGroup>> ParentGroup(const Fd& fs, SubvolumeId subvolume);

// Takes the subvolume out of the group. Simple quotas: its bytes leave the group with it.
Status LeaveQuotaGroup(const Fd& fs, SubvolumeId subvolume, QuotaGroup group);
// The groups of lower levels that the group counts.
Result<std::vector<QuotaGroup>> GroupMembers(const Fd& fs, QuotaGroup group);

struct QuotaUsage {
  QuotaGroup group;
  Bytes used;   // as of the last commit, at most 30 s ago: call SyncFileSystem for the present
  Bytes limit;  // 0 when none is set
};
// Of the groups from `first` to `last`, in their order.
Result<std::vector<QuotaUsage>> ReadQuotaUsage(const Fd& fs, QuotaGroup first, QuotaGroup last);

// ---- the whole file system

// Takes all of its only device into use.
Status GrowToDevice(const Fd& fs);
// The path under which the kernel knows the first device, "/dev/loop0".
Result<std::string> FirstDevice(const Fd& fs);
// Writes everything and wakes the cleaner of deleted subvolumes.
Status SyncFileSystem(const Fd& fs);

}  // namespace caisson::os
