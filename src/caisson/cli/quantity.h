#pragma once

#include <chrono>
#include <string>

#include "caisson/base/units.h"

namespace caisson::cli {

// The shortest exact form ParseDuration reads: "30s", "10m", "1500ms".
std::string FormatDuration(std::chrono::milliseconds duration);

// The shortest exact form ParseCpus reads: "2", "0.5".
std::string FormatCpus(MilliCpus cpus);

// "SIGKILL"; "SIGRTMIN+3"; "signal 99" for a number without a name. Source: signal(7).
std::string SignalName(int signal);

}  // namespace caisson::cli
