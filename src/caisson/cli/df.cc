#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/host_report.h"
#include "caisson/sandbox/housekeeping.h"

namespace caisson::cli {

int DfCommand(const CommandLine& line) {
  const bool json = line.Has(Option::kJson);
  const sandbox::HostFolders folders;
  const auto inventory = sandbox::ReadHostInventory(folders);
  if (!inventory) {
    PrintError(inventory.error(), json ? Format::kJson : Format::kText);
    return kFailed;
  }
  return PrintOrFail(
      json ? InventoryJson(*inventory, folders.data_directory) : InventoryTable(*inventory, folders.data_directory),
      kSuccess, kFailed);
}

}  // namespace caisson::cli
