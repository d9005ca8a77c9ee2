#include "caisson/storage/returning_layer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/kept_record.h"
#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// A copy was made before its sandbox had an id. The folder is named by its lock's path, since it may have been renamed.
Result<std::string> NameCopy(const os::Fd& copy, const std::string& name) {
  const std::string path = os::PathOf(copy);
  const std::string parent = path.substr(0, path.rfind('/'));
  std::string wanted = parent + "/" + name;
  const bool is_named = path == wanted;
  if (!is_named && renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, wanted.c_str(), RENAME_NOREPLACE) != 0) {
    return Fail(Error::FromErrno(errno, "cannot name the copy of the workspace after its sandbox"));
  }
  return wanted;
}

Result<WorkspaceCopy> TakeCopy(const os::Fd& data, const std::string& name) {
  WorkspaceCopy copy;
  const os::Fd copies(openat(data.get(), "copies", kDirectory));
  if (copies.valid()) copy.lock = os::TryOwnFolder(copies, name);
  if (copy.lock.valid()) copy.folder = os::Fd(openat(copy.lock.get(), "workspace", kDirectory));
  if (!copy.folder.valid()) {
    return Fail(Error::FromErrno(errno, "cannot take the copy of the sandbox's workspace"));
  }
  copy.path = os::PathOf(copy.folder);
  return copy;
}

}  // namespace

Status KeepForReturn(const os::Fd& layer, const ReturnRecord& record) {
  if (syncfs(layer.get()) != 0) return Fail(Error::FromErrno(errno, "cannot write the layer to the disk"));
  CAISSON_TRY(const bool has_record, HasRecord(layer));
  if (has_record) return {};
  proto::KeptSandbox kept;
  kept.set_version(kKeptVersion);
  kept.set_id(record.name);
  kept.set_created_unix_ms(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  kept.set_first_id(record.first_id);
  kept.set_may_return(true);
  if (record.copy != nullptr) {
    CAISSON_TRY(const std::string folder, NameCopy(*record.copy, record.name));
    kept.set_workspace_directory(folder + "/workspace");
  }
  return KeepLayer(layer, kept.SerializeAsString(), record.image);
}

Result<bool> MayReturn(const os::Fd& layers, const std::string& name) {
  const os::Fd layer(openat(layers.get(), name.c_str(), kDirectory));
  if (!layer.valid() && errno == ENOENT) return false;
  if (!layer.valid()) return Fail(Error::FromErrno(errno, "cannot open a layer"));
  CAISSON_TRY(const bool has_record, HasRecord(layer));
  if (!has_record) return false;
  CAISSON_TRY(const std::string bytes, ReadRecord(layer));
  const auto record = ReadKeptRecord(bytes);
  return record && record->may_return();
}

Result<ReturnedLayer> TakeKeptLayer(const os::Fd& data, const os::Fd& layers, const std::string& name) {
  CAISSON_TRY(const bool is_kept, MayReturn(layers, name));
  if (!is_kept) return Fail(Error::FromErrno(ENOENT, "no files of the sandbox " + name + " were kept"));
  ReturnedLayer layer;
  layer.folder = os::TryOwnFolder(layers, name);
  if (!layer.folder.valid()) return Fail(Error::FromErrno(EBUSY, "somebody uses the files of the sandbox " + name));
  CAISSON_TRY(const std::string bytes, ReadRecord(layer.folder));
  CAISSON_TRY(const proto::KeptSandbox record, ReadKeptRecord(bytes));
  layer.first_id = record.first_id();
  layer.image = ImageOfKept(layer.folder);
  if (!record.workspace_directory().empty()) {
    CAISSON_TRY(layer.copy, TakeCopy(data, name));
  }
  // What an overlay noted there is of no use to the next, which refuses it when the one before was not unmounted.
  for (const char* work : {"work_root", "work_workspace"}) CAISSON_CHECK_OK(RemoveTree(layer.folder.get(), work));
  return layer;
}

}  // namespace caisson::storage
