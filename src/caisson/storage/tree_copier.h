#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/copy_meter.h"
#include "caisson/storage/entry_attributes.h"
#include "caisson/storage/file_content.h"
#include "caisson/storage/folder_copy.h"

namespace caisson::storage {

// The walk of CopyFolder: fills one empty folder from another and keeps neither depth nor width of the source in
// descriptors, and of its names only those of a part of each listing on the way down.
class TreeCopier {
 public:
  // `target`: an empty folder that nobody else reaches, `links`: another on the same file system, left with names in
  // it. The others are borrowed.
  TreeCopier(os::Fd links, const CopyOptions& options, CopyMeter& meter, const struct stat& target);

  Status Copy(os::Fd source, os::Fd target);
  // After Copy.
  const CopySummary& summary() const { return summary_; }

 private:
  struct FolderId {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const FolderId&) const = default;
  };
  // A folder on the way down. Its descriptors may be closed while the walk is far below it.
  struct Level {
    std::string name;
    os::Fd source;
    os::Fd target;
    struct stat info;  // of the source
    FolderId target_id;
    off_t offset = 0;                  // where its listing goes on
    bool is_listed = false;            // to the end
    std::vector<std::string> folders;  // of the last part of the listing, not entered yet
  };
  enum class Attempt { kDone, kReplaced };

  Status Walk();
  Status CopyPart();
  Status CopyEntry(const std::string& name, unsigned char type);
  Result<Attempt> TryEntry(const std::string& name, mode_t type);
  Result<Attempt> CopyFile(const std::string& name);
  Result<Attempt> CopyByName(const std::string& name, const struct stat& info);
  Status MakeFile(const std::string& name, const os::Fd& source, const struct stat& info);
  void LeaveOut(const std::string& name);

  Status EnterFolder(const std::string& name);
  Status MakeMountPoint(const std::string& name);
  Status PushLevel(std::string name, os::Fd source, os::Fd target, const struct stat& info);
  Status LeaveFolder();
  Status OpenAgain(Level& level, const Level& below) const;

  // Whether `name` is now another name of what was copied already.
  Result<bool> LinkToEarlier(const std::string& name, const struct stat& info);
  Status RememberForLinks(const std::string& name, const struct stat& info);

  Level& here() { return levels_.back(); }
  Error AtEntry(Error error, const std::string& name) const;
  std::string PathTo(const std::string& name) const;
  static FolderId IdOf(const struct stat& info) { return {info.st_dev, info.st_ino}; }

  os::Fd links_;
  const CopyOptions& options_;
  CopyMeter& meter_;
  CopySummary summary_;
  FileContent content_;
  EntryAttributes attributes_;
  FolderId top_target_;
  std::uint64_t linked_files_ = 0;
  std::vector<Level> levels_;
  std::unique_ptr<char[]> listing_;
};

}  // namespace caisson::storage
