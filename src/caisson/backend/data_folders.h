#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/storage/inventory.h"

namespace caisson::backend {

// The folders Caisson keeps on this host, made when they are missing. All belong to root and nobody else may write to
// them, but for `spool`, which belongs to the engine. Needs root.
struct DataFolders {
  os::Fd data;     // holds `images`, `sandboxes` and `copies`
  os::Fd runtime;  // lock files
  os::Fd state;    // of the daemon's database; the engine's user alone may enter it
  os::Fd spool;    // unnamed files of the engine

  // The data folder is then in use as long as its descriptor or a duplicate is open: nobody purges it.
  // Errors: kPermissionDenied when a folder belongs to somebody else or others may write to it; kUnavailable while it
  // is being purged.
  static Result<DataFolders> Open(const std::string& data, const std::string& runtime);
};

// The same folders where they exist, for a look or for upkeep: makes nothing and does not count as use. Errors:
// kPermissionDenied as above.
Result<storage::Places> OpenExistingPlaces(const std::string& data, const std::string& runtime);

}  // namespace caisson::backend
