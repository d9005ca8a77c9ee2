#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace caisson {

// "SIGKILL"; "SIGRTMIN+3"; "signal 99" for a number without a name. Source: signal(7).
std::string SignalName(int signal);

// The number of a signal that SignalName names, "SIGTERM" or "SIGRTMIN+3". Nothing for any other text.
std::optional<int> ParseSignal(std::string_view name);

}  // namespace caisson
