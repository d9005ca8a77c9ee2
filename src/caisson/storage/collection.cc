#include "caisson/storage/collection.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>

#include "caisson/os/identity.h"
#include "caisson/storage/host_image.h"
#include "caisson/storage/layer_folders.h"
#include "caisson/storage/remove_tree.h"
#include "caisson/storage/sandbox_folders.h"
#include "caisson/storage/tree_usage.h"
#include "caisson/storage/workspace_copy.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// How long the kernel may take to end the processes of a launcher that was just killed.
constexpr std::chrono::seconds kEndOfProcesses{2};

Error OutOfTime() { return Error(Code::kDeadlineExceeded, "no time was left for it").Retryable(); }

class Collector {
 public:
  Collector(const Places& places, const Deadline& deadline, Effort effort)
      : places_(places), deadline_(deadline), effort_(effort) {}

  void Layers() {
    const os::Fd folder(openat(places_.data.get(), "sandboxes", kDirectory));
    TakeLayers(folder, [&](const std::string& name) { return RemoveTree(folder.get(), name.c_str(), deadline_); });
  }

  // A store that cannot be opened is told by whoever needs it; its left-overs stay in it.
  void StoreLayers() {
    const MountStore mount = effort_ == Effort::kWhole ? MountStore::kIfNeeded : MountStore::kNo;
    auto store = OpenStore(places_.data, places_.data_path, mount);
    if (!store) collected_.failed.push_back({ItemKind::kFile, "store", store.error()});
    if (!store || !*store) return;
    TakeLayers(OpenStoreLayers(places_.data), [&](const std::string& name) { return (*store)->DeleteLayer(name); });
    if (!deadline_.Passed()) (*store)->RemoveLeftOvers();  // snapshots and quota groups that belong to no layer
  }

  // After the layers: a copy goes when its layer is gone.
  void Copies() {
    const os::Fd copies(openat(places_.data.get(), "copies", kDirectory));
    for (const SandboxFolder& copy : FindWorkspaceCopies(places_.data)) {
      if (copy.owner != Owner::kNobody) continue;
      const Bytes held = Held(copies, copy.name);
      const Result<bool> removed =
          deadline_.Passed() ? Fail(OutOfTime()) : RemoveWorkspaceCopy(places_.data, copy.name, deadline_);
      if (removed && !*removed) continue;  // somebody has it by now
      Note(ItemKind::kCopy, copy.name, held, removed ? Status() : Fail(removed.error()));
    }
  }

  void Images() {
    const os::Fd images(openat(places_.data.get(), "images", kDirectory));
    if (!images.valid()) return;
    if (!AllLayersAreKnown(places_.data)) return;  // one of them may need an image
    const std::set<std::string> needed = ImagesOfKeptLayers(places_.data);
    for (const Skeleton& skeleton : FindSkeletons(images, HostSkeletonName(places_.host_root.get()))) {
      if (skeleton.use != SkeletonUse::kLeftOver || needed.contains(skeleton.name)) continue;
      const Bytes held = Held(images, skeleton.name);
      const Result<bool> removed = RemoveSkeleton(images, skeleton.name, deadline_);
      if (removed && !*removed) continue;  // somebody uses it by now
      Note(ItemKind::kImage, skeleton.name, held, removed ? Status() : Fail(removed.error()));
    }
  }

  Collected& collected() { return collected_; }

 private:
  // Those in `folder` that nobody has locked and nobody kept.
  template <typename Remove>
  void TakeLayers(const os::Fd& folder, const Remove& remove) {
    if (!folder.valid()) return;
    for (const SandboxFolder& layer : FindSandboxFolders(folder)) {
      if (layer.owner != Owner::kNobody) continue;
      if (deadline_.Passed()) {
        Note(ItemKind::kLayer, layer.name, {}, Fail(OutOfTime()));
        continue;
      }
      const os::Fd own = TakeLeftOverFolder(folder, layer.name);
      if (!own.valid()) continue;
      const Bytes held = Held(folder, layer.name);  // before it goes
      Note(ItemKind::kLayer, layer.name, held, remove(layer.name));
    }
  }

  Bytes Held(const os::Fd& folder, const std::string& name) const {
    return effort_ == Effort::kWhole ? AllocatedBy(folder, name.c_str()) : Bytes{};
  }

  void Note(ItemKind kind, const std::string& name, Bytes freed, const Status& status) {
    if (status) {
      collected_.removed.push_back({kind, name, freed});
    } else {
      collected_.failed.push_back({kind, name, status.error()});
    }
  }

  const Places& places_;
  const Deadline& deadline_;
  Effort effort_;
  Collected collected_;
};

// The block of the cgroup "s5" is 5. Nothing for another name.
std::optional<std::uint32_t> BlockOf(const std::string& name) {
  std::uint32_t block = 0;
  const char* end = name.data() + name.size();
  if (name.size() < 2 || name[0] != 's') return std::nullopt;
  const auto [stop, error] = std::from_chars(name.data() + 1, end, block);
  if (error != std::errc() || stop != end || block == 0 || block >= os::kUidBlocks) return std::nullopt;
  return block;
}

// Removes one cgroup; false when somebody has its block or the cgroup itself.
Result<bool> CollectCgroup(const os::Cgroup& cgroups, const std::string& name, UidBlocks* blocks,
                           const Deadline& deadline) {
  const std::optional<std::uint32_t> block = BlockOf(name);
  if (!block) return false;
  if (blocks != nullptr) {
    CAISSON_TRY(const bool taken, blocks->TakeThis(*block));
    if (!taken) return false;
  }
  const Deadline end(std::min(deadline.at(), Deadline::In(kEndOfProcesses).at()));
  Result<bool> removed = cgroups.RemoveUnownedChild(name, end);
  if (blocks != nullptr) blocks->Release(*block);
  return removed;
}

}  // namespace

Status CollectCgroups(UidBlocks* blocks, const Deadline& deadline, Collected& collected) {
  CAISSON_TRY(const os::Cgroup roots, os::Cgroup::Roots());
  CAISSON_TRY(const std::optional<os::Cgroup> cgroups, roots.FindChild("caisson"));
  if (!cgroups) return {};
  CAISSON_TRY(const auto children, cgroups->Children());
  for (const os::Cgroup::Child& child : children) {
    if (child.ownership != os::Cgroup::Ownership::kNone) continue;
    const Result<bool> removed = CollectCgroup(*cgroups, child.name, blocks, deadline);
    if (!removed) {
      collected.failed.push_back({ItemKind::kCgroup, child.name, removed.error()});
    } else if (*removed) {
      collected.removed.push_back({ItemKind::kCgroup, child.name, {}});
    }
  }
  roots.RemoveChildIfUnused("caisson");
  return {};
}

Result<Collected> CollectLeftOvers(const Places& places, const Deadline& deadline, Effort effort) {
  std::optional<UidBlocks> blocks;
  if (places.runtime.valid()) {
    CAISSON_TRY(blocks, UidBlocks::OpenExisting(places.runtime));
  }
  Collected collected = CollectFolders(places, deadline, effort);
  CAISSON_CHECK_OK(CollectCgroups(blocks ? &*blocks : nullptr, deadline, collected));
  return collected;
}

Collected CollectFolders(const Places& places, const Deadline& deadline, Effort effort) {
  Collector collector(places, deadline, effort);
  if (places.data.valid()) {
    collector.Layers();
    collector.StoreLayers();
    collector.Copies();
    collector.Images();
  }
  return std::move(collector.collected());
}

}  // namespace caisson::storage
