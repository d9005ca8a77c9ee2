#include "caisson/storage/workspace_copy.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "caisson/storage/kept_layer.h"
#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr const char* kCopies = "copies";
constexpr const char* kName = "workspace";

bool MayHaveKeptLayer(const os::Fd& data, const std::string& id) {
  if (!AllLayersAreKnown(data)) return true;
  const std::vector<LayerFolder> folders = LayerFolders(data);
  return std::any_of(folders.begin(), folders.end(),
                     [&](const LayerFolder& folder) { return IsKept(folder.folder, id); });
}

}  // namespace

Result<WorkspaceCopy> MakeWorkspaceCopy(const os::Fd& data, const std::string& id, const os::Fd& source,
                                        const std::function<bool(const CopyProgress&)>& progress) {
  const os::Fd copies(openat(data.get(), kCopies, kDirectory));
  if (!copies.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder of workspace copies"));
  WorkspaceCopy copy;
  CAISSON_TRY(copy.lock, MakeSandboxFolder(copies, id));
  const auto fill = [&]() -> Status {
    CAISSON_TRY(const CopySummary summary, CopyFolder(source, copy.lock, kName, {}, progress));
    copy.folder = os::Fd(openat(copy.lock.get(), kName, kDirectory));
    if (!copy.folder.valid()) return Fail(Error::FromErrno(errno, "cannot open the copy of the workspace"));
    copy.path = std::string(kCopies) + "/" + id + "/" + kName;
    return {};
  };
  if (Status filled = fill(); !filled) {
    (void)RemoveTree(copies.get(), id.c_str());
    return Fail(std::move(filled).error().Context("copying the workspace"));
  }
  return copy;
}

std::vector<SandboxFolder> FindWorkspaceCopies(const os::Fd& data) {
  const os::Fd copies(openat(data.get(), kCopies, kDirectory));
  if (!copies.valid()) return {};
  std::vector<SandboxFolder> found = FindSandboxFolders(copies);
  for (SandboxFolder& copy : found) {
    if (copy.owner == Owner::kNobody && MayHaveKeptLayer(data, copy.name)) copy.owner = Owner::kNobodyButKept;
  }
  return found;
}

Result<bool> RemoveWorkspaceCopy(const os::Fd& data, const std::string& id, const Deadline& deadline) {
  const os::Fd copies(openat(data.get(), kCopies, kDirectory));
  if (!copies.valid()) return false;
  const os::Fd own = TakeLeftOverFolder(copies, id);
  if (!own.valid() || MayHaveKeptLayer(data, id)) return false;
  CAISSON_CHECK_OK(RemoveTree(copies.get(), id.c_str(), deadline));
  return true;
}

}  // namespace caisson::storage
