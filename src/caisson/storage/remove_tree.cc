#include "caisson/storage/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "caisson/os/fd.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

struct Entry {
  std::string name;
  bool is_directory;
};

Result<std::vector<Entry>> List(const os::Fd& directory) {
  // Its own open file description: readdir moves the offset.
  const int again = openat(directory.get(), ".", kDirectory);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again < 0 ? nullptr : fdopendir(again), closedir);
  if (listing == nullptr) return Fail(Error::FromErrno(errno, "cannot list a folder that is being removed"));
  std::vector<Entry> entries;
  while (const dirent* entry = readdir(listing.get())) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_directory = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat info{};
      is_directory = fstatat(directory.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
    }
    entries.push_back({std::move(name), is_directory});
  }
  return entries;
}

Status CheckTime(const Deadline& deadline) {
  if (!deadline.Passed()) return {};
  return Fail(Error(Code::kDeadlineExceeded, "a folder is too large to be removed in the time given").Retryable());
}

// Empties one folder of `top`: files go, folders move up to `top` under names nobody uses.
Status EmptyInto(const os::Fd& top, const os::Fd& folder, std::uint64_t& counter, const Deadline& deadline) {
  CAISSON_TRY(const std::vector<Entry> entries, List(folder));
  for (const Entry& entry : entries) {
    CAISSON_CHECK_OK(CheckTime(deadline));
    if (!entry.is_directory) {
      if (unlinkat(folder.get(), entry.name.c_str(), 0) != 0 && errno != ENOENT) {
        return Fail(Error::FromErrno(errno, "cannot remove a file"));
      }
      continue;
    }
    while (true) {
      const std::string moved = ".removed." + std::to_string(counter++);
      if (renameat2(folder.get(), entry.name.c_str(), top.get(), moved.c_str(), RENAME_NOREPLACE) == 0) break;
      if (errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot move a folder that is being removed"));
    }
  }
  return {};
}

}  // namespace

Status RemoveTree(int directory, const char* name) {
  return RemoveTree(directory, name, Deadline(Deadline::Clock::time_point::max()));
}

Status RemoveTree(int directory, const char* name, const Deadline& deadline) {
  const os::Fd top(openat(directory, name, kDirectory));
  if (!top.valid()) {
    if (errno == ENOENT) return {};
    return Fail(Error::FromErrno(errno, std::string("cannot open ") + name + " to remove it"));
  }
  std::uint64_t counter = 0;
  while (true) {
    CAISSON_TRY(const std::vector<Entry> entries, List(top));
    if (entries.empty()) break;
    for (const Entry& entry : entries) {
      CAISSON_CHECK_OK(CheckTime(deadline));
      if (entry.is_directory) {
        const os::Fd folder(openat(top.get(), entry.name.c_str(), kDirectory));
        if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open a folder that is being removed"));
        CAISSON_CHECK_OK(EmptyInto(top, folder, counter, deadline));
      }
      if (unlinkat(top.get(), entry.name.c_str(), entry.is_directory ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT) {
        return Fail(Error::FromErrno(errno, "cannot remove an entry"));
      }
    }
  }
  if (unlinkat(directory, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return Fail(Error::FromErrno(errno, std::string("cannot remove ") + name));
  }
  return {};
}

}  // namespace caisson::storage
