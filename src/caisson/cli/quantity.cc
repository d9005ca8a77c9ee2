#include "caisson/cli/quantity.h"

#include <signal.h>
#include <string.h>

namespace caisson::cli {

std::string FormatCpus(MilliCpus cpus) {
  std::string text = std::to_string(cpus.value / 1000);
  if (cpus.value % 1000 == 0) return text;
  std::string fraction = std::to_string(1000 + cpus.value % 1000).substr(1);
  while (fraction.back() == '0') fraction.pop_back();
  return text + "." + fraction;
}

std::string SignalName(int signal) {
  if (const char* name = sigabbrev_np(signal); name != nullptr) return std::string("SIG") + name;
  if (signal == SIGRTMIN) return "SIGRTMIN";
  if (signal > SIGRTMIN && signal <= SIGRTMAX) return "SIGRTMIN+" + std::to_string(signal - SIGRTMIN);
  return "signal " + std::to_string(signal);
}

}  // namespace caisson::cli
