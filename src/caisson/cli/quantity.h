#pragma once

#include <string>

#include "caisson/base/units.h"

namespace caisson::cli {

// The shortest exact form ParseCpus reads: "2", "0.5".
std::string FormatCpus(MilliCpus cpus);

// "SIGKILL"; "SIGRTMIN+3"; "signal 99" for a number without a name. Source: signal(7).
std::string SignalName(int signal);

}  // namespace caisson::cli
