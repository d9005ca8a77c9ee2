#pragma once

#include <string>

#include "caisson/base/units.h"

namespace caisson::cli {

// The shortest exact form ParseCpus reads: "2", "0.5".
std::string FormatCpus(MilliCpus cpus);

}  // namespace caisson::cli
