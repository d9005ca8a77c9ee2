#include "support/storage_drivers.h"

#include "support/caisson_run.h"

namespace caisson::support {

std::string WhyMissing(plan::Storage storage) {
  if (storage != plan::Storage::kBtrfs) return {};
  static const Ended tried = RunCommand({"--storage", "btrfs"}, {"true"});
  return tried.status == 125 ? "no btrfs storage here: " + tried.err : std::string();
}

}  // namespace caisson::support
