#pragma once

#include <array>
#include <string>

#include "caisson/plan/launch_plan.h"

namespace caisson::support {

// What a writable layer can lie on: what holds for one of these must hold for each.
struct StorageDriver {
  const char* name;  // of the option --storage
  plan::Storage storage;
};

inline constexpr std::array kStorageDrivers = {StorageDriver{"tmpfs", plan::Storage::kTmpfs},
                                               StorageDriver{"btrfs", plan::Storage::kBtrfs},
                                               StorageDriver{"directory", plan::Storage::kDirectory}};

// Why this host has no such storage; empty when it has. Asks once by trying.
std::string WhyMissing(plan::Storage storage);

}  // namespace caisson::support
