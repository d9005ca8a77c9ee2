#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::daemon {

// What one daemon is started with.
struct Options {
  std::string socket = "/run/caisson/caisson.sock";
  std::optional<std::uint16_t> tcp_port;               // on 127.0.0.1
  std::optional<std::chrono::milliseconds> idle_exit;  // with no sandbox and no connection for so long
  std::string data_directory = "/var/lib/caisson";
  std::string runtime_directory = "/run/caisson";
};

// Reads `--socket PATH`, `--listen 127.0.0.1:PORT`, `--idle-exit DURATION`, `--data DIR` and `--runtime DIR`. Errors:
// kInvalidArgument.
Result<Options> ReadOptions(const std::vector<std::string>& arguments);

}  // namespace caisson::daemon
