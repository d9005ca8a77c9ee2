#include "caisson/base/signal_name.h"

#include <signal.h>
#include <string.h>

namespace caisson {

std::string SignalName(int signal) {
  if (const char* name = sigabbrev_np(signal); name != nullptr) return std::string("SIG") + name;
  if (signal == SIGRTMIN) return "SIGRTMIN";
  if (signal > SIGRTMIN && signal <= SIGRTMAX) return "SIGRTMIN+" + std::to_string(signal - SIGRTMIN);
  return "signal " + std::to_string(signal);
}

std::optional<int> ParseSignal(std::string_view name) {
  if (!name.starts_with("SIG")) return std::nullopt;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (SignalName(signal) == name) return signal;
  }
  return std::nullopt;
}

}  // namespace caisson
