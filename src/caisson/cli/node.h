#pragma once

#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"
#include "caisson/client/endpoint.h"

namespace caisson::cli {

// Which node a command line asks.
struct NodeAddress {
  client::Endpoint endpoint;
  enum class Chosen { kByDefault, kByCaller } chosen = Chosen::kByDefault;
};

// From --host or CAISSON_HOST, and CAISSON_KEY. Touches nothing outside. Errors: those of client::ParseEndpoint.
Result<NodeAddress> ReadNodeAddress(const CommandLine& line, const Environment& environment);

// Where a node answers now, for a command that needs one: when the caller chose none and none runs, a daemon is started
// first. Errors: kUnavailable; kUnsupported without root; those of StartDaemon.
Result<client::Endpoint> ReachNode(const CommandLine& line, const Environment& environment);

// Where to ask first, for a command that can do without a node: where the caller said, or where one answers now;
// nothing when the caller chose none and none answers.
Result<std::optional<NodeAddress>> NodeIfAny(const CommandLine& line, const Environment& environment);

// Whether a node answers there now. Errors: kPermissionDenied.
Result<bool> NodeAnswers(const client::Endpoint& endpoint);

}  // namespace caisson::cli
