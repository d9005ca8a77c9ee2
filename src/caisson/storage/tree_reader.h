#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// What decides whether an entry of a folder has changed.
struct FileStamp {
  mode_t mode = 0;  // type and permission bits
  uid_t uid = 0;
  gid_t gid = 0;
  dev_t device = 0;  // of a device node: which
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t links = 0;
  timespec modified{};
  timespec changed{};

  bool IsDirectory() const { return S_ISDIR(mode); }
  bool IsFile() const { return S_ISREG(mode); }
  bool IsLink() const { return S_ISLNK(mode); }
  // How overlayfs marks in an upper layer that a name of the lower one is gone.
  bool IsWhiteout() const { return S_ISCHR(mode) && device == 0; }
};

// The longest path that a program can name. What lies deeper is not read.
inline constexpr std::size_t kMaxPath = 4095;

// Reads a tree whose content is hostile and may change meanwhile: no link is followed, no other file system is entered,
// nothing that blocks is opened. Paths are relative to the root, without a slash at either end; the root is "".
// Keeps the folder it used last open. Not thread-safe. Kernel: openat2(2), Linux 5.6.
class TreeReader {
 public:
  explicit TreeReader(os::Fd root) : root_(std::move(root)) {}

  Result<os::Fd> DuplicateRoot() const { return root_.Duplicate(); }

  // What was renamed since the last call is found under its new name from here on.
  void Refresh() {
    last_.Reset();
    newest_ = {};
  }
  // When the last change was made of which Stamp told since then; folders aside.
  const timespec& newest() const { return newest_; }

  // Whether, since it was last asked, something that may be there could not be read: descriptors or memory ran out, or
  // a disk failed. Of each of these the answer below is the same as of what is absent.
  bool TakeFailure() { return std::exchange(failed_, false); }

  // Absent when there is no such entry, or a folder on the way is none.
  std::optional<FileStamp> Stamp(const std::string& path);
  // Sorted, without "." and "..". Empty when it is no folder.
  std::vector<std::string> Names(const std::string& folder);
  std::string LinkTarget(const std::string& path);
  // For reading; an invalid Fd when it is no regular file.
  os::Fd OpenFile(const std::string& path);
  // The value of a folder's extended attribute, empty when it has none.
  std::string Attribute(const std::string& folder, const char* name);

 private:
  // Of the folder; -1 when it is none. Borrowed.
  int Folder(const std::string& path);
  void NoteFailure(int error);

  os::Fd root_;
  os::Fd last_;
  std::string last_path_;
  timespec newest_{};
  bool failed_ = false;
};

bool IsLater(const timespec& a, const timespec& b);

// "a/b" and "c" make "a/b/c"; "" and "c" make "c".
std::string JoinPath(const std::string& folder, std::string_view name);

// The folder of a path and its last name.
std::pair<std::string, std::string> SplitPath(const std::string& path);

}  // namespace caisson::storage
