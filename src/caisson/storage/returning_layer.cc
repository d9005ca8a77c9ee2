#include "caisson/storage/returning_layer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/kept_record.h"
#include "caisson/storage/remove_tree.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

}  // namespace

Status KeepForReturn(const os::Fd& layer, const ReturnRecord& record) {
  if (syncfs(layer.get()) != 0) return Fail(Error::FromErrno(errno, "cannot write the layer to the disk"));
  CAISSON_TRY(const bool has_record, HasRecord(layer));
  if (has_record) return {};
  proto::KeptSandbox kept = NewKeptRecord(record.name, record.first_id);
  kept.set_may_return(true);
  if (record.copy != nullptr) {
    CAISSON_TRY(const std::string folder, NameWorkspaceCopy(*record.copy, record.name));
    kept.set_workspace_directory(folder);
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
    CAISSON_TRY(layer.copy, TakeWorkspaceCopy(data, name));
  }
  // What an overlay noted there is of no use to the next, which refuses it when the one before was not unmounted.
  for (const char* work : {"work_root", "work_workspace"}) CAISSON_CHECK_OK(RemoveTree(layer.folder.get(), work));
  return layer;
}

}  // namespace caisson::storage
