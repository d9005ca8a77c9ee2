#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/program_index.h"
#include "caisson/plan/kernel_plan.h"
#include "caisson/sandbox/command.h"
#include "caisson/sandbox/file_search.h"
#include "caisson/sandbox/sandbox.h"

namespace caisson::sandbox {

enum class FileType { kFile, kDirectory, kSymlink, kFifo, kSocket, kDevice };

struct FileEntry {
  std::string name;
  FileType type = FileType::kFile;
  std::uint64_t size_bytes = 0;
  std::uint32_t mode = 0;
  std::int64_t modified_unix_ms = 0;
  std::string link_target;
};

struct TreeEntry {
  std::string path;  // from the listed folder, which is none of its parts
  FileType type = FileType::kFile;
  std::uint64_t size_bytes = 0;
  std::uint32_t mode = 0;
  std::int64_t modified_unix_ms = 0;
  std::string link_target;
  bool is_unreadable = false;  // a folder whose entries are missing because it cannot be read
};

struct FolderTree {
  std::vector<TreeEntry> entries;  // depth first, and by the bytes of the name in each folder
  bool truncated = false;          // there is more
  std::uint64_t seen = 0;          // entries of the folders that were read; those of others are not counted
};

struct FileContent {
  std::string bytes;
  std::uint64_t size_bytes = 0;  // of the whole file
};

enum class IfExists { kOverwrite, kFail, kAppend };
enum class Wrote { kCreated, kReplaced, kAppended };

// File operations inside a sandbox. Each runs in a process of its own with the uid, Landlock rules, seccomp filter
// and limits of a command of `user`, so it can do nothing a command could not. Paths are resolved inside the
// sandbox; relative ones start in the workspace. Thread-safe. At most 10 s each, then kDeadlineExceeded.
class Files {
 public:
  // `plan` binds every operation as CommandSpec::kernel_plan binds a command; nullptr: nothing more does. What it
  // does not allow is kPermissionDenied.
  explicit Files(Sandbox& sandbox, User user = User::kAgent, std::shared_ptr<const plan::KernelPlan> plan = nullptr)
      : sandbox_(sandbox), user_(user), plan_(std::move(plan)) {}

  // At most `limit` bytes from `offset`. Limit: 16 MiB. Never blocks on a FIFO or device: kInvalidArgument.
  Result<FileContent> Read(std::string_view path, std::uint64_t offset = 0, Bytes limit = MiB(16));
  // Replaces atomically (a new file renamed over the old one, which keeps its mode) or appends. Content: 16 MiB.
  // Parent directories are made. A symbolic link is followed; anything but a regular file is kInvalidArgument.
  Result<Wrote> Write(std::string_view path, std::string_view content, IfExists if_exists = IfExists::kOverwrite);
  // Removes a file or a link, not what it leads to, or an empty directory. Errors: kNotFound; kConflict for a directory
  // with something in it.
  Status Remove(std::string_view path);
  // The entries of one directory, sorted by name. Limit: 10,000, then kResourceExhausted.
  Result<std::vector<FileEntry>> List(std::string_view path);
  // What is below a folder, to a depth of 1 (its own entries) to 16; at most `limit` entries, 1 to 10,000. No link is
  // followed but in `path`. At most 1,000,000 entries are looked at. Errors: kInvalidArgument (depth or limit).
  Result<FolderTree> Tree(std::string_view path, std::uint32_t depth, std::uint32_t limit);
  // The lines of files that match a regular expression, in the order of Tree. Only regular files are opened, no link is
  // followed but in the path, and folders named .git are left out, unless the path is in one. At most 1,000,000 entries
  // and 128 folders deep. Errors: kInvalidArgument (the pattern, with what is wrong; the glob; the limit; a path of
  // neither a file nor a folder).
  Result<FileMatches> Search(const FileSearch& search);
  // Where a path leads when all its links are followed: an absolute path. kNotFound: to nothing.
  Result<std::string> Follow(std::string_view path);
  // What can be executed in the sandbox's image. Takes seconds for very large images.
  Result<os::ProgramIndex> FindPrograms();

 private:
  Sandbox& sandbox_;
  User user_;
  std::shared_ptr<const plan::KernelPlan> plan_;
};

}  // namespace caisson::sandbox
