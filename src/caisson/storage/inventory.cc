#include "caisson/storage/inventory.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "caisson/storage/host_image.h"
#include "caisson/storage/sandbox_folders.h"
#include "caisson/storage/tree_usage.h"
#include "caisson/storage/uid_blocks.h"
#include "caisson/storage/workspace_copy.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

os::Fd OpenBelow(const os::Fd& data, const char* name) { return os::Fd(openat(data.get(), name, kDirectory)); }

ItemState StateOf(SkeletonUse use) {
  if (use == SkeletonUse::kInUse) return ItemState::kInUse;
  return use == SkeletonUse::kCurrent ? ItemState::kKept : ItemState::kLeftOver;
}

ItemState StateOf(Owner owner) {
  if (owner == Owner::kSomebody) return ItemState::kInUse;
  return owner == Owner::kNobodyButKept ? ItemState::kKept : ItemState::kLeftOver;
}

void AddImages(const Places& places, Inventory& inventory) {
  const os::Fd images = OpenBelow(places.data, "images");
  if (!images.valid()) return;
  for (const Skeleton& skeleton : FindSkeletons(images, HostSkeletonName(places.host_root.get()))) {
    inventory.items.push_back(
        {ItemKind::kImage, skeleton.name, StateOf(skeleton.use), AllocatedBy(images, skeleton.name.c_str())});
  }
}

void AddLayers(const os::Fd& folder, Inventory& inventory) {
  if (!folder.valid()) return;
  for (const SandboxFolder& layer : FindSandboxFolders(folder)) {
    inventory.items.push_back(
        {ItemKind::kLayer, layer.name, StateOf(layer.owner), AllocatedBy(folder, layer.name.c_str())});
  }
}

void AddCopies(const os::Fd& data, Inventory& inventory) {
  const os::Fd copies = OpenBelow(data, "copies");
  for (const SandboxFolder& copy : FindWorkspaceCopies(data)) {
    inventory.items.push_back(
        {ItemKind::kCopy, copy.name, StateOf(copy.owner), AllocatedBy(copies, copy.name.c_str())});
  }
}

Status AddCgroups(Inventory& inventory) {
  CAISSON_TRY(const std::optional<os::Cgroup> cgroups, FindCgroups());
  if (!cgroups) return {};
  CAISSON_TRY(const auto children, cgroups->Children());
  for (const os::Cgroup::Child& child : children) {
    const bool owned = child.ownership == os::Cgroup::Ownership::kOwned;
    inventory.items.push_back({ItemKind::kCgroup, child.name, owned ? ItemState::kInUse : ItemState::kLeftOver, {}});
  }
  return {};
}

Bytes Blocks(std::uint64_t count, std::uint64_t size) { return {count * size}; }

}  // namespace

Result<std::optional<os::Cgroup>> FindCgroups() {
  CAISSON_TRY(const os::Cgroup roots, os::Cgroup::Roots());
  return roots.FindChild("caisson");
}

Result<Inventory> ReadInventory(const Places& places) {
  Inventory inventory;
  if (places.data.valid()) {
    AddImages(places, inventory);
    AddLayers(OpenBelow(places.data, "sandboxes"), inventory);
    AddLayers(OpenStoreLayers(places.data), inventory);
    AddCopies(places.data, inventory);
    inventory.store = ReadStore(places.data);
    inventory.spool = AllocatedBy(places.data, "spool");
    struct statvfs space{};
    if (fstatvfs(places.data.get(), &space) != 0) {
      return Fail(Error::FromErrno(errno, "cannot ask for the space of the data folder"));
    }
    inventory.disk_size = Blocks(space.f_blocks, space.f_frsize);
    inventory.disk_free = Blocks(space.f_bfree, space.f_frsize);
  }
  CAISSON_CHECK_OK(AddCgroups(inventory));
  if (places.runtime.valid()) {
    CAISSON_TRY(const auto blocks, UidBlocks::OpenExisting(places.runtime));
    if (blocks) inventory.uid_blocks = blocks->TakenByOthers();
  }
  return inventory;
}

std::string_view KindName(ItemKind kind) {
  switch (kind) {
    case ItemKind::kImage:
      return "image";
    case ItemKind::kLayer:
      return "layer";
    case ItemKind::kCgroup:
      return "cgroup";
    case ItemKind::kCopy:
      return "copy";
    case ItemKind::kMount:
      return "mount";
    case ItemKind::kFile:
      return "file";
    case ItemKind::kFolder:
      return "folder";
  }
  return "";
}

std::string_view StateName(ItemState state) {
  if (state == ItemState::kInUse) return "in_use";
  return state == ItemState::kKept ? "kept" : "left_over";
}

}  // namespace caisson::storage
