#include "caisson/storage/mapped_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "caisson/os/identity.h"
#include "caisson/os/namespace.h"
#include "caisson/plan/limits.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::storage {
namespace {

// Host ids to sandbox ids, where `owner` becomes agent and every other id x becomes first_id + kOwnIds + x.
std::vector<os::IdRange> OwnerMap(std::uint32_t owner, std::uint32_t first_id) {
  const std::uint32_t others = first_id + UidBlocks::kOwnIds;
  std::vector<os::IdRange> ranges = {{owner, first_id + plan::kAgentId, 1}};
  if (owner >= UidBlocks::kOwnIds) {
    ranges.push_back({0, others, UidBlocks::kOwnIds});
    return ranges;
  }
  if (owner > 0) ranges.push_back({0, others, owner});
  if (owner + 1 < UidBlocks::kOwnIds) ranges.push_back({owner + 1, others + owner + 1, UidBlocks::kOwnIds - owner - 1});
  return ranges;
}

}  // namespace

Status MapImage(const os::DetachedMount& tree, std::uint32_t first_id) {
  const std::vector<os::IdRange> ids = {{0, first_id, UidBlocks::kOwnIds}};
  CAISSON_TRY(const os::Fd map, os::MakeUserNamespace(ids, ids));
  return os::MapIds(tree, map);
}

Status MapLayer(const os::DetachedMount& tree, std::uint32_t kept_first_id, std::uint32_t first_id) {
  const std::vector<os::IdRange> ids = {{0, 0, 1}, {kept_first_id, first_id, os::kUidsPerBlock}};
  CAISSON_TRY(const os::Fd map, os::MakeUserNamespace(ids, ids));
  return os::MapIds(tree, map);
}

Status MapWorkspace(const os::DetachedMount& tree, std::uint32_t first_id) {
  struct stat info{};
  if (fstat(tree.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read the workspace folder"));
  CAISSON_TRY(const os::Fd map,
              os::MakeUserNamespace(OwnerMap(info.st_uid, first_id), OwnerMap(info.st_gid, first_id)));
  CAISSON_CHECK_OK(os::MapIds(tree, map));
  return os::AddMountFlags(tree, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

}  // namespace caisson::storage
