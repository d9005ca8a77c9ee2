#include "caisson/sandbox/housekeeping.h"

#include "caisson/backend/data_folders.h"
#include "caisson/os/identity.h"

namespace caisson::sandbox {

Result<storage::Places> OpenPlaces(const HostFolders& folders) {
  CAISSON_CHECK_OK(os::RequireRoot("see what it keeps on this host"));
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
