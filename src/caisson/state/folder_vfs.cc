#include "caisson/state/folder_vfs.h"

#include <sqlite3.h>

#include <cstdint>
#include <cstring>

namespace caisson::state {
namespace {

int TakeAsItIs(sqlite3_vfs* /*vfs*/, const char* path, int size, char* out) {
  const std::size_t length = std::strlen(path);
  if (length >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::memcpy(out, path, length + 1);
  return SQLITE_OK;
}

}  // namespace

FolderVfs::FolderVfs() = default;

FolderVfs::~FolderVfs() {
  if (vfs_ != nullptr) sqlite3_vfs_unregister(vfs_.get());
}

Result<std::unique_ptr<FolderVfs>> FolderVfs::Make() {
  const Error failed = Error(Code::kInternal, "SQLite does not start");
  if (sqlite3_initialize() != SQLITE_OK) return Fail(failed);
  const sqlite3_vfs* usual = sqlite3_vfs_find("unix");
  if (usual == nullptr) return Fail(failed);
  std::unique_ptr<FolderVfs> made(new FolderVfs);
  auto copy = std::make_unique<sqlite3_vfs>(*usual);
  // SQLite finds it by its name, which no other of this process may have.
  made->name_ = "caisson-" + std::to_string(reinterpret_cast<std::uintptr_t>(copy.get()));
  copy->zName = made->name_.c_str();
  copy->pNext = nullptr;
  copy->xFullPathname = TakeAsItIs;
  if (sqlite3_vfs_register(copy.get(), 0) != SQLITE_OK) return Fail(failed);
  made->vfs_ = std::move(copy);
  return made;
}

}  // namespace caisson::state
