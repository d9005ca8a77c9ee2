#include "caisson/sandbox/kept_sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "caisson/backend/data_folders.h"
#include "caisson/backend/layer.h"
#include "caisson/os/folder_lock.h"
#include "caisson/os/identity.h"
#include "caisson/os/socket.h"
#include "caisson/plan/limits.h"
#include "caisson/storage/btrfs_layers.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/kept_record.h"
#include "caisson/storage/layer_service.h"
#include "caisson/storage/mapped_folder.h"
#include "caisson/storage/remove_tree.h"
#include "caisson/storage/workspace_copy.h"

namespace caisson::sandbox {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// The store too, mounted when it is not yet.
Result<os::Fd> OpenData(const HostFolders& folders) {
  CAISSON_TRY(storage::Places places, OpenPlaces(folders));
  if (!places.data.valid()) return os::Fd();
  const auto store = storage::BtrfsStore::Open(places.data, folders.data_directory, storage::IfMissing::kFail);
  if (!store && store.error().code() != Code::kNotFound) return Fail(store.error());
  return std::move(places.data);
}

Error NotFound(const std::string& id) {
  return Error(Code::kNotFound, "there is no kept sandbox " + id)
      .Because("no writable layer was kept under this id")
      .Remedy("`caisson df` lists those there are; `caisson run --keep` keeps one");
}

// A mount of its own of a folder, readable and with the sandbox's ids.
Result<os::Fd> OpenLower(const os::Fd& folder, Status (*map)(const os::DetachedMount&, std::uint32_t),
                         std::uint32_t first_id) {
  CAISSON_TRY(const os::DetachedMount tree, os::CloneTree(folder.get(), ""));
  CAISSON_CHECK_OK(map(tree, first_id));
  os::Fd opened(openat(tree.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return Fail(Error::FromErrno(errno, "cannot open a folder of the sandbox"));
  return opened;
}

Result<os::Fd> OpenOrigin(int at, const std::string& path, const char* what) {
  os::Fd folder(openat(at, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) return folder;
  return Fail(Error::FromErrno(errno, std::string("cannot open the ") + what + " that the sandbox was made from"));
}

Result<os::Fd> OpenUpper(const os::Fd& layer, const char* name) {
  os::Fd folder(openat(layer.get(), name, kDirectory));
  if (folder.valid()) return folder;
  return Fail(Error::FromErrno(errno, "cannot open the writable layer"));
}

Result<std::vector<storage::TrackedLayer::Overlay>> OpenOverlays(const os::Fd& data, const os::Fd& layer) {
  CAISSON_TRY(const std::string bytes, storage::ReadRecord(layer));
  CAISSON_TRY(const proto::KeptSandbox record, storage::ReadKeptRecord(bytes));
  os::Fd image;
  if (record.image_directory().empty()) {
    CAISSON_TRY(image, OpenOrigin(data.get(), "images/" + storage::ImageOfKept(layer), "image"));
  } else {
    CAISSON_TRY(image, OpenOrigin(AT_FDCWD, record.image_directory(), "image"));
  }
  std::vector<storage::TrackedLayer::Overlay> overlays;
  CAISSON_TRY(os::Fd root_upper, OpenUpper(layer, "upper_root"));
  CAISSON_TRY(os::Fd root_lower, OpenLower(image, storage::MapImage, record.first_id()));
  overlays.push_back({"", std::move(root_upper), std::move(root_lower)});
  if (record.workspace_directory().empty()) return overlays;
  CAISSON_TRY(const os::Fd workspace, OpenOrigin(AT_FDCWD, record.workspace_directory(), "workspace folder"));
  CAISSON_TRY(os::Fd upper, OpenUpper(layer, "upper_workspace"));
  CAISSON_TRY(os::Fd lower, OpenLower(workspace, storage::MapWorkspace, record.first_id()));
  overlays.push_back({plan::kAgentWorkspace, std::move(upper), std::move(lower)});
  return overlays;
}

class NoOwner : public storage::LayerOwner {
 public:
  std::optional<storage::ChangeWatch::Names> Touched(std::uint64_t) override { return std::nullopt; }
  bool IsFull() override { return false; }
  Status Keep(std::string_view) override { return Fail(Error(Code::kUnsupported, "the layer is kept already")); }
  Status Stay() override { return Keep({}); }
  void Aside(const std::function<void()>& work) override { work(); }
};

// The process that reads; ends with its reader.
[[noreturn]] void Serve(os::Fd connection, std::vector<storage::TrackedLayer::Overlay> overlays) {
  // To read what belongs to others, and what overlayfs noted on folders.
  if (!os::KeepOnlyCapabilities({CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN})) _exit(1);
  storage::LayerService service(std::move(connection),
                                storage::TrackedLayer(std::move(overlays), storage::TrackedLayer::Start::kEmptyUppers));
  NoOwner owner;
  while (service.connection() >= 0) service.Answer(owner);
  _exit(0);
}

}  // namespace

Result<KeptSandbox> KeptSandbox::Open(const HostFolders& folders, const std::string& id) {
  KeptSandbox kept;
  kept.folders_ = folders;
  CAISSON_TRY(kept.data_, OpenData(folders));
  if (!kept.data_.valid() || id.empty()) return Fail(NotFound(id));
  for (storage::LayerFolder& folder : storage::LayerFolders(kept.data_)) {
    for (const std::string& name : os::NamesIn(folder.folder)) {
      if (!name.starts_with(id) || !storage::IsKept(folder.folder, name)) continue;
      if (!kept.id_.empty()) {
        return Fail(Error(Code::kInvalidArgument, "several kept sandboxes begin with " + id)
                        .Because("two of them are " + kept.id_ + " and " + name)
                        .Remedy("write more of the id"));
      }
      kept.id_ = name;
      CAISSON_TRY(kept.parent_.folder, folder.folder.Duplicate());
      kept.parent_.is_of_store = folder.is_of_store;
    }
  }
  if (kept.id_.empty()) return Fail(NotFound(id));
  // What ended just now may still be on its way out.
  for (const Deadline deadline = Deadline::In(kPatience); !kept.layer_.valid() && !deadline.Passed();) {
    kept.layer_ = os::TryOwnFolder(kept.parent_.folder, kept.id_);
    if (!kept.layer_.valid()) poll(nullptr, 0, 10);
  }
  if (!kept.layer_.valid()) {
    return Fail(Error(Code::kConflict, "the sandbox " + kept.id_ + " is in use").Remedy("try again later").Retryable());
  }
  return kept;
}

KeptSandbox::KeptSandbox(KeptSandbox&& other) noexcept
    : folders_(std::move(other.folders_)),
      id_(std::move(other.id_)),
      data_(std::move(other.data_)),
      parent_(std::move(other.parent_)),
      layer_(std::move(other.layer_)),
      reader_(std::move(other.reader_)),
      process_(std::exchange(other.process_, -1)) {}

KeptSandbox::~KeptSandbox() {
  reader_.reset();
  while (process_ > 0 && waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status KeptSandbox::Delete() && {
  if (parent_.is_of_store) {
    CAISSON_TRY(storage::BtrfsStore store,
                storage::BtrfsStore::Open(data_, folders_.data_directory, storage::IfMissing::kFail));
    CAISSON_CHECK_OK(storage::BtrfsLayers(std::move(store)).DeleteLayer(id_));
  } else {
    CAISSON_CHECK_OK(storage::RemoveTree(parent_.folder.get(), id_.c_str()));
  }
  const Deadline no_deadline(Deadline::Clock::time_point::max());
  CAISSON_TRY(const bool had_copy, storage::RemoveWorkspaceCopy(data_, id_, no_deadline));
  (void)had_copy;
  return {};
}

Status KeptSandbox::StartReading() {
  CAISSON_TRY(std::vector<storage::TrackedLayer::Overlay> overlays, OpenOverlays(data_, layer_));
  CAISSON_TRY(auto ends, os::SocketPair(os::SocketKind::kStream));
  process_ = fork();
  if (process_ < 0) return Fail(Error::FromErrno(errno, "cannot start a process to read the layer"));
  if (process_ == 0) {
    ends.first.Reset();
    Serve(std::move(ends.second), std::move(overlays));
  }
  reader_ = std::make_unique<backend::Layer>(std::move(ends.first));
  return os::BecomeEngineUser();
}

Result<plan::ChangeList> KeptSandbox::Changes() {
  CAISSON_TRY(backend::Layer::Report report, reader_->TakeReport(plan::ReportScope::kEverything, plan::CheckRoom::kNo));
  return std::move(report.list);
}

Result<std::string> KeptSandbox::Patch(std::uint32_t index, const plan::Change& change, Escaping escaping,
                                       PatchBudget& budget) {
  CAISSON_TRY(const backend::Layer::Sides sides, reader_->Open(index));
  std::string patch;
  if (sides.before.valid() || sides.after.valid()) {
    CAISSON_TRY(patch, FilePatch(change.path, sides.before, sides.after, escaping, budget));
  }
  if (sides.link_before || sides.link_after) {
    patch += LinkPatch(change.path, sides.link_before, sides.link_after, escaping, budget);
  }
  return patch;
}

}  // namespace caisson::sandbox
