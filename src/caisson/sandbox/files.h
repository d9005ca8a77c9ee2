#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/program_index.h"
#include "caisson/sandbox/command.h"
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
  explicit Files(Sandbox& sandbox, User user = User::kAgent) : sandbox_(sandbox), user_(user) {}

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
  // Where a path leads when all its links are followed: an absolute path. kNotFound: to nothing.
  Result<std::string> Follow(std::string_view path);
  // What can be executed in the sandbox's image. Takes seconds for very large images.
  Result<os::ProgramIndex> FindPrograms();

 private:
  Sandbox& sandbox_;
  User user_;
};

}  // namespace caisson::sandbox
