#include "caisson/backend/data_folders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "caisson/os/identity.h"
#include "caisson/storage/purge.h"

namespace caisson::backend {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

Status RequireTrust(const os::Fd& folder, const std::string& path, uid_t owner) {
  struct stat info{};
  if (fstat(folder.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot open the folder " + path));
  if (info.st_uid != owner || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Fail(Error(Code::kPermissionDenied, "the folder " + path + " cannot be trusted")
                    .Because("it belongs to somebody else, or others may write to it")
                    .Remedy("chown it to uid " + std::to_string(owner) + " and chmod go-w, or choose another folder"));
  }
  return {};
}

// A folder that only `owner` may change. A symbolic link in its place is refused.
Result<os::Fd> OpenFolder(int parent, const std::string& path, mode_t mode, uid_t owner) {
  if (mkdirat(parent, path.c_str(), mode) == 0) {
    // Whatever the caller's umask is.
    if (fchmodat(parent, path.c_str(), mode, 0) != 0 ||
        fchownat(parent, path.c_str(), owner, owner, AT_SYMLINK_NOFOLLOW) != 0) {
      return Fail(Error::FromErrno(errno, "cannot give away the folder " + path));
    }
  } else if (errno != EEXIST) {
    return Fail(Error::FromErrno(errno, "cannot make the folder " + path));
  }
  os::Fd folder(openat(parent, path.c_str(), kDirectory));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder " + path));
  CAISSON_CHECK_OK(RequireTrust(folder, path, owner));
  return folder;
}

// Invalid when there is none.
Result<os::Fd> OpenIfThere(const std::string& path) {
  os::Fd folder(open(path.c_str(), kDirectory));
  if (!folder.valid()) {
    if (errno == ENOENT) return folder;
    return Fail(Error::FromErrno(errno, "cannot open the folder " + path));
  }
  CAISSON_CHECK_OK(RequireTrust(folder, path, 0));
  return folder;
}

Status MakeParents(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) {
      return Fail(Error::FromErrno(errno, "cannot make the folder " + path.substr(0, slash)));
    }
  }
  return {};
}

}  // namespace

Result<DataFolders> DataFolders::Open(const std::string& data, const std::string& runtime) {
  DataFolders folders;
  CAISSON_CHECK_OK(MakeParents(data));
  CAISSON_CHECK_OK(MakeParents(runtime));
  CAISSON_TRY(folders.data, OpenFolder(AT_FDCWD, data, 0711, 0));
  CAISSON_CHECK_OK(storage::LockForUse(folders.data, data));
  CAISSON_TRY(folders.runtime, OpenFolder(AT_FDCWD, runtime, 0711, 0));
  CAISSON_TRY(folders.spool, OpenFolder(folders.data.get(), "spool", 0700, os::kEngineUid));
  CAISSON_TRY(folders.state, OpenFolder(folders.data.get(), "state", 0700, os::kEngineUid));
  for (const char* name : {"images", "sandboxes", "copies"}) {
    CAISSON_TRY(const os::Fd made, OpenFolder(folders.data.get(), name, 0700, 0));
  }
  return folders;
}

Result<storage::Places> OpenExistingPlaces(const std::string& data, const std::string& runtime) {
  storage::Places places{.data = {}, .runtime = {}, .host_root = {}, .data_path = data};
  CAISSON_TRY(places.data, OpenIfThere(data));
  CAISSON_TRY(places.runtime, OpenIfThere(runtime));
  places.host_root.Reset(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!places.host_root.valid()) return Fail(Error::FromErrno(errno, "cannot open the root folder"));
  return places;
}

}  // namespace caisson::backend
