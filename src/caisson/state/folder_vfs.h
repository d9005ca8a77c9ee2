#pragma once

#include <memory>
#include <string>

#include "caisson/base/result.h"

struct sqlite3_vfs;

namespace caisson::state {

// SQLite's own file access, but for one thing: a path is taken as it is, where SQLite would follow its links, and so
// turn /proc/self/fd/N into the folder's path and resolve that again. Exists longer than every connection that uses it.
class FolderVfs {
 public:
  static Result<std::unique_ptr<FolderVfs>> Make();
  FolderVfs(const FolderVfs&) = delete;
  FolderVfs& operator=(const FolderVfs&) = delete;
  ~FolderVfs();

  const char* name() const { return name_.c_str(); }

 private:
  FolderVfs();
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::string name_;
};

}  // namespace caisson::state
