#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/sandbox/sandboxes.h"
#include "caisson/storage/collection.h"
#include "caisson/storage/inventory.h"
#include "caisson/storage/purge.h"

namespace caisson::sandbox {

// What Caisson holds on this host beside running sandboxes, and how to be rid of it. Needs root, no launcher and no
// sandbox; safe beside any number of them. Each may be called from any thread.
struct HostFolders {
  std::string data_directory = kDataDirectory;
  std::string runtime_directory = kRuntimeDirectory;
};

// The folders, open, where they exist. Errors: kUnsupported without root; kPermissionDenied when a folder cannot be
// trusted. Nothing is made.
Result<storage::Places> OpenPlaces(const HostFolders& folders);

// Errors: as OpenPlaces.
Result<storage::Inventory> ReadHostInventory(const HostFolders& folders);

// Removes every left-over and says what; takes as long as it takes. A second call finds nothing.
Result<storage::Collected> PruneHost(const HostFolders& folders);

// Removes everything, or says what that would be. Errors: kConflict naming what lives.
Result<storage::Collected> PurgeHost(const HostFolders& folders, storage::PurgeMode mode);

}  // namespace caisson::sandbox
