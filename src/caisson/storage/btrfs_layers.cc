#include "caisson/storage/btrfs_layers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/kept_layer.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr std::size_t kLongestName = 64;

// Groups of layers are 1/n with n in a range nobody numbers by hand, so that those of a host's own file system are left
// alone.
constexpr std::uint64_t kGroupMark = 0xCA15ULL << 32U;
constexpr os::QuotaGroup kFirstGroup = os::QuotaGroup::Of(1, kGroupMark);
constexpr os::QuotaGroup kLastGroup = os::QuotaGroup::Of(1, kGroupMark | 0xFFFFFFFFULL);
constexpr int kGroupAttempts = 16;
// The limit of a subvolume that is deleted: nothing more may be written through descriptors that are still open. It
// also tells our groups of level 0 from others.
constexpr Bytes kSealed = {1};

Status CheckName(const std::string& name) {
  const bool fits = !name.empty() && name.size() <= kLongestName && name[0] != '.' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                             c == '.' || c == '-';
                    });
  if (fits) return {};
  return Fail(Error(Code::kInvalidArgument, "a layer or snapshot cannot have this name")
                  .Because("names are 1 to 64 of A-Z, a-z, 0-9, '_', '.', '-', without a dot first"));
}

Result<os::Fd> OpenFolder(const os::Fd& parent, const std::string& name, const char* what) {
  os::Fd folder(openat(parent.get(), name.c_str(), kDirectory));
  if (folder.valid()) return folder;
  return Fail(Error::FromErrno(errno, std::string("cannot open the ") + what + " " + name));
}

// Deletes the subvolumes in one, the deepest first. Sandboxes cannot make any: this is for what else may have happened.
Status DeleteNested(const os::Fd& fs, const os::Fd& subvolume) {
  CAISSON_TRY(const os::SubvolumeId id, os::SubvolumeOf(subvolume));
  CAISSON_TRY(std::vector<os::SubvolumeId> pending, os::NestedSubvolumes(fs, id));
  while (!pending.empty()) {
    CAISSON_TRY(const std::vector<os::SubvolumeId> inner, os::NestedSubvolumes(fs, pending.back()));
    if (inner.empty()) {
      CAISSON_CHECK_OK(os::DeleteSubvolume(fs, pending.back()));
      pending.pop_back();
    } else {
      pending.insert(pending.end(), inner.begin(), inner.end());
    }
  }
  return {};
}

}  // namespace

Result<os::Fd> BtrfsLayers::CreateLayer(const std::string& name, Bytes limit) {
  CAISSON_CHECK_OK(CheckName(name));
  if (limit < kSmallestLimit) {
    return Fail(
        Error(Code::kInvalidArgument, "a writable layer needs a limit of at least " + FormatBytes(kSmallestLimit)));
  }
  // Exclusive while a layer is made or left-overs are looked for: nobody sees one that is made but not locked, and two
  // cannot be promised the same space.
  CAISSON_TRY(const os::Fd lock, os::LockFolder(store_.layers(), LOCK_EX));
  CAISSON_TRY(const Promises promises, ReadPromises());
  CAISSON_CHECK_OK(store_.MakeRoom(promises, limit));
  CAISSON_TRY(const os::QuotaGroup group, MakeGroup(limit));
  auto layer = MakeSubvolume(name, group);
  if (!layer) (void)os::RemoveQuotaGroup(store_.layers(), group);
  return layer;
}

// A group of its own with its limit: a member of it is limited from its first byte.
Result<os::QuotaGroup> BtrfsLayers::MakeGroup(Bytes limit) {
  for (int attempt = 0; attempt < kGroupAttempts; ++attempt) {
    std::uint32_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) {
      if (errno == EINTR) continue;
      return Fail(Error::FromErrno(errno, "cannot get random bytes"));
    }
    const os::QuotaGroup group = os::QuotaGroup::Of(1, kGroupMark | number);
    const Status created = os::CreateQuotaGroup(store_.layers(), group);
    if (!created && created.error().code() == Code::kAlreadyExists) continue;
    CAISSON_CHECK_OK(created);
    const Status limited = os::LimitQuotaGroup(store_.layers(), group, limit);
    if (limited) return group;
    (void)os::RemoveQuotaGroup(store_.layers(), group);
    return Fail(limited.error());
  }
  return Fail(Error(Code::kResourceExhausted, "found no free number for a quota group"));
}

Result<os::Fd> BtrfsLayers::MakeSubvolume(const std::string& name, os::QuotaGroup group) {
  CAISSON_CHECK_OK(os::CreateSubvolume(store_.layers(), name, group));
  const auto finish = [&]() -> Result<os::Fd> {
    CAISSON_TRY(os::Fd layer, OpenFolder(store_.layers(), name, "writable layer"));
    if (fchmod(layer.get(), 0700) != 0)
      return Fail(Error::FromErrno(errno, "cannot close the writable layer to others"));
    CAISSON_CHECK_OK(os::Lock(layer, LOCK_EX | LOCK_NB));
    // The kernel may ignore a group that somebody removed just now.
    CAISSON_TRY(const os::QuotaGroup its_group, GroupOf(layer, name));
    if (its_group != group) return Fail(Error(Code::kInternal, "the writable layer got another quota group"));
    return layer;
  };
  auto layer = finish();
  if (!layer) (void)os::DeleteSubvolume(store_.layers(), name);
  return layer;
}

Result<os::QuotaGroup> BtrfsLayers::GroupOf(const os::Fd& subvolume, const std::string& name) const {
  CAISSON_TRY(const os::SubvolumeId id, os::SubvolumeOf(subvolume));
  CAISSON_TRY(const std::optional<os::QuotaGroup> group, os::ParentGroup(subvolume, id));
  if (group && *group >= kFirstGroup && *group <= kLastGroup) return *group;
  return Fail(Error(Code::kInternal, "no limit holds for the writable layer " + name)
                  .Because("its quota group is missing")
                  .Remedy("remove the sandbox"));
}

Result<os::Fd> BtrfsLayers::Snapshot(const std::string& layer, const std::string& name) {
  CAISSON_CHECK_OK(CheckName(layer));
  CAISSON_CHECK_OK(CheckName(name));
  CAISSON_TRY(const os::Fd source, OpenFolder(store_.layers(), layer, "writable layer"));
  CAISSON_TRY(const os::QuotaGroup group, GroupOf(source, layer));
  if (mkdirat(store_.snapshots().get(), layer.c_str(), 0700) != 0 && errno != EEXIST) {
    return Fail(Error::FromErrno(errno, "cannot make the folder of snapshots of " + layer));
  }
  CAISSON_TRY(const os::Fd folder, OpenFolder(store_.snapshots(), layer, "folder of snapshots of"));
  CAISSON_CHECK_OK(os::CreateSnapshot(folder, name, source, group));
  const auto finish = [&]() -> Result<os::Fd> {
    CAISSON_TRY(os::Fd snapshot, OpenFolder(folder, name, "snapshot"));
    CAISSON_TRY(const os::QuotaGroup its_group, GroupOf(snapshot, name));
    if (its_group != group) return Fail(Error(Code::kInternal, "the snapshot got another quota group"));
    CAISSON_TRY(const os::QuotaState quotas, os::ReadQuotaState(snapshot));
    // Classic quotas before Linux 6.9 lose count when a snapshot joins a group.
    if (quotas.mode == os::QuotaMode::kClassic && !quotas.consistent)
      CAISSON_CHECK_OK(os::StartQuotaRescan(store_.layers()));
    return snapshot;
  };
  auto snapshot = finish();
  if (!snapshot) (void)os::DeleteSubvolume(folder, name);
  return snapshot;
}

Status BtrfsLayers::DeleteSnapshot(const std::string& layer, const std::string& name) {
  CAISSON_CHECK_OK(CheckName(layer));
  CAISSON_CHECK_OK(CheckName(name));
  CAISSON_TRY(const os::Fd folder, OpenFolder(store_.snapshots(), layer, "folder of snapshots of"));
  return os::DeleteSubvolume(folder, name);
}

Status BtrfsLayers::DeleteSnapshots(const std::string& layer) {
  const os::Fd folder(openat(store_.snapshots().get(), layer.c_str(), kDirectory));
  if (!folder.valid()) {
    if (errno == ENOENT) return {};
    return Fail(Error::FromErrno(errno, "cannot open the folder of snapshots of " + layer));
  }
  for (const std::string& name : os::NamesIn(folder)) CAISSON_CHECK_OK(os::DeleteSubvolume(folder, name));
  if (unlinkat(store_.snapshots().get(), layer.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return Fail(Error::FromErrno(errno, "cannot remove the folder of snapshots of " + layer));
}

Status BtrfsLayers::DeleteLayer(const std::string& name) {
  CAISSON_CHECK_OK(CheckName(name));
  // First, so that what an interruption leaves is still found by the layer's name.
  CAISSON_CHECK_OK(DeleteSnapshots(name));
  const os::Fd layer(openat(store_.layers().get(), name.c_str(), kDirectory));
  if (!layer.valid()) {
    if (errno == ENOENT) return {};
    return Fail(Error::FromErrno(errno, "cannot open the writable layer " + name));
  }
  CAISSON_CHECK_OK(DeleteNested(store_.layers(), layer));
  // One without a group was half made; it goes as well.
  const auto group = GroupOf(layer, name);
  if (group) CAISSON_CHECK_OK(Seal(*group));
  CAISSON_CHECK_OK(os::DeleteSubvolume(store_.layers(), name));
  return {};
}

// The layer leaves its group, so that what is promised counts only layers that exist, whose number decides what making
// one costs. The kernel needs half a minute for a deleted one.
Status BtrfsLayers::Seal(os::QuotaGroup group) {
  const os::Fd& fs = store_.layers();
  CAISSON_TRY(const os::QuotaState quotas, os::ReadQuotaState(fs));
  // Classic quotas lose count when what shares extents leaves a group: it stays until its members are gone.
  if (quotas.mode == os::QuotaMode::kClassic) return os::LimitQuotaGroup(fs, group, kSealed);
  CAISSON_TRY(const std::vector<os::QuotaGroup> members, os::GroupMembers(fs, group));
  for (const os::QuotaGroup member : members) {
    Status sealed = os::LimitQuotaGroup(fs, member, kSealed);
    Status gone = os::LeaveQuotaGroup(fs, os::SubvolumeId{member.value}, group);
    // A snapshot's group may go in the meantime, with what it counted.
    if (!sealed && sealed.error().errno_value() != ENOENT) return sealed;
    if (!gone && gone.error().errno_value() != ENOENT) return gone;
  }
  return os::RemoveQuotaGroup(fs, group);
}

Result<LayerUsage> BtrfsLayers::Usage(const std::string& name) const {
  CAISSON_CHECK_OK(CheckName(name));
  CAISSON_TRY(const os::Fd layer, OpenFolder(store_.layers(), name, "writable layer"));
  CAISSON_TRY(const os::QuotaGroup group, GroupOf(layer, name));
  CAISSON_TRY(const std::vector<os::QuotaUsage> usages, os::ReadQuotaUsage(layer, group, group));
  if (usages.empty()) return Fail(Error(Code::kInternal, "the quota group of the writable layer " + name + " is gone"));
  return LayerUsage{usages[0].used, usages[0].limit};
}

Result<Promises> BtrfsLayers::ReadPromises() const {
  CAISSON_TRY(const std::vector<os::QuotaUsage> usages, os::ReadQuotaUsage(store_.layers(), kFirstGroup, kLastGroup));
  Promises promises;
  for (const os::QuotaUsage& usage : usages) {
    promises.total.value += std::max(usage.used.value, usage.limit.value);
    promises.rest.value += usage.limit > usage.used ? usage.limit.value - usage.used.value : 0;
  }
  return promises;
}

Result<PoolUsage> BtrfsLayers::Pool() const {
  PoolUsage usage;
  CAISSON_TRY(usage.pool, store_.PoolSpace());
  CAISSON_TRY(usage.host, store_.HostSpace());
  CAISSON_TRY(usage.promises, ReadPromises());
  return usage;
}

std::vector<std::string> BtrfsLayers::ListLayers() const { return os::NamesIn(store_.layers()); }

Result<std::vector<std::string>> BtrfsLayers::ListSnapshots(const std::string& layer) const {
  CAISSON_CHECK_OK(CheckName(layer));
  const os::Fd folder(openat(store_.snapshots().get(), layer.c_str(), kDirectory));
  if (folder.valid()) return os::ReadNames(folder);
  if (errno == ENOENT) return std::vector<std::string>();
  return Fail(Error::FromErrno(errno, "cannot open the folder of snapshots of " + layer));
}

void BtrfsLayers::RemoveLeftOvers() {
  // Somebody else is making a layer or doing this: no hurry.
  const auto lock = os::LockFolder(store_.layers(), LOCK_EX | LOCK_NB);
  if (!lock) return;
  for (const std::string& name : ListLayers()) {
    const os::Fd layer = os::TryOwnFolder(store_.layers(), name);
    if (layer.valid() && !IsKept(store_.layers(), name)) (void)DeleteLayer(name);
  }
  for (const std::string& name : os::NamesIn(store_.snapshots())) {
    struct stat info{};
    const int found = fstatat(store_.layers().get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
    if (found != 0 && errno == ENOENT) (void)DeleteSnapshots(name);
  }
  (void)CollectGroupsLocked();
}

std::size_t BtrfsLayers::CollectGroups() {
  const auto lock = os::LockFolder(store_.layers(), LOCK_EX | LOCK_NB);
  return lock ? CollectGroupsLocked() : 0;
}

std::size_t BtrfsLayers::CollectGroupsLocked() {
  const os::Fd& fs = store_.layers();
  std::size_t left = 0;
  // Linux before 6.11 leaves the group of a subvolume behind.
  const auto remove_when_gone = [&](os::QuotaGroup group) {
    const auto exists = os::SubvolumeExists(fs, os::SubvolumeId{group.value});
    return exists && !*exists && os::RemoveQuotaGroup(fs, group);
  };
  if (const auto groups = os::ReadQuotaUsage(fs, kFirstGroup, kLastGroup)) {
    for (const os::QuotaUsage& usage : *groups) {
      const auto members = os::GroupMembers(fs, usage.group);
      if (!members || (usage.limit != kSealed && !members->empty())) continue;
      for (const os::QuotaGroup member : *members) (void)remove_when_gone(member);
      if (!os::RemoveQuotaGroup(fs, usage.group)) ++left;
    }
  }
  if (const auto groups = os::ReadQuotaUsage(fs, os::QuotaGroup{0}, os::QuotaGroup::Of(1, 0))) {
    for (const os::QuotaUsage& usage : *groups) {
      if (usage.limit == kSealed && !remove_when_gone(usage.group)) ++left;
    }
  }
  return left;
}

}  // namespace caisson::storage
