#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/copy_meter.h"

namespace caisson::storage {

// Gives entries of a copy the owner, permission bits, user.* attributes and time of modification of what they are
// copied from. Counts in the summary what it leaves out.
class EntryAttributes {
 public:
  // `owner`, `group`: whose the entries are when they are made. The others are borrowed.
  EntryAttributes(uid_t owner, gid_t group, CopyMeter& meter, CopySummary& summary);

  // A file or a folder, when everything in it is made. `info` is of `source`.
  Status Give(const os::Fd& source, const os::Fd& target, const struct stat& info);
  // What cannot be opened: a symbolic link or a FIFO, below `folder`, where nobody else may write. These have no
  // user.* attributes.
  Status GiveByName(const os::Fd& folder, const std::string& name, const struct stat& info);

 private:
  mode_t PermissionBits(const struct stat& info);
  // Returns the permission bits that mean more in the copy than they did, because an access list is missing.
  Result<mode_t> GiveExtended(const os::Fd& source, const os::Fd& target);
  Status GiveValue(const os::Fd& source, const os::Fd& target, const char* name);

  const uid_t owner_;
  const gid_t group_;
  CopyMeter& meter_;
  CopySummary& summary_;
  std::unique_ptr<char[]> names_;
  std::unique_ptr<char[]> value_;
};

}  // namespace caisson::storage
