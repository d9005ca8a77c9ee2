#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/client/endpoint.h"

namespace caisson::cli {

struct DaemonStart {
  std::string program;
  std::vector<std::string> arguments;
  std::string folder;  // made with mode 0711 when it is not there; gets the log file daemon.log
  client::Endpoint endpoint;
  std::chrono::milliseconds patience{10'000};
};

// Starts a program that nothing ties to this process: in a session of its own, its folder the root, its standard input
// and output /dev/null, what it says as an error in the log file. Returns when something answers at the endpoint: also
// when that is another daemon that was quicker. Call from the only thread. Errors: kUnavailable, with the last lines
// of the log, when the program ends without that; kDeadlineExceeded after the patience.
Status StartDaemon(const DaemonStart& start);

// The last lines of a log, at most three and 500 bytes, safe for a terminal.
std::string LastLines(const std::string& log);

}  // namespace caisson::cli
