#include "caisson/sandbox/housekeeping.h"

#include <unistd.h>

#include "caisson/backend/data_folders.h"

namespace caisson::sandbox {

Result<storage::Places> OpenPlaces(const HostFolders& folders) {
  if (geteuid() != 0) {
    return Fail(Error(Code::kUnsupported, "Caisson needs root to see what it keeps on this host")
                    .Because("this process runs as uid " + std::to_string(geteuid()))
                    .Remedy("run it with sudo")
                    .Detail("primitive", "root privileges"));
  }
  return backend::OpenExistingPlaces(folders.data_directory, folders.runtime_directory);
}

Result<storage::Inventory> ReadHostInventory(const HostFolders& folders) {
  CAISSON_TRY(const storage::Places places, OpenPlaces(folders));
  return storage::ReadInventory(places);
}

Result<storage::Collected> PruneHost(const HostFolders& folders) {
  CAISSON_TRY(const storage::Places places, OpenPlaces(folders));
  return storage::CollectLeftOvers(places, Deadline(Deadline::Clock::time_point::max()), storage::Effort::kWhole);
}

Result<storage::Collected> PurgeHost(const HostFolders& folders, storage::PurgeMode mode) {
  CAISSON_TRY(const storage::Places places, OpenPlaces(folders));
  return storage::Purge(places, folders.data_directory, folders.runtime_directory, mode);
}

}  // namespace caisson::sandbox
