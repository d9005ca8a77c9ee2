#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/cli/signal_watch.h"
#include "caisson/client/commands.h"
#include "caisson/client/follow.h"

namespace caisson::cli {

enum class SecondInterrupt { kCancels, kLeaves };
enum class ShowOutput { kNo, kYes };

// How this program is connected with a command of a node.
struct Session {
  client::Endpoint endpoint;
  std::string sandbox;
  std::string command;
  ShowOutput output = ShowOutput::kYes;  // on the two standard streams
  int input = -1;                        // what goes to its standard input; -1: nothing
  SecondInterrupt second = SecondInterrupt::kCancels;
};

// Follows the command until it ends. The first SIGINT and every SIGQUIT go to it; the second SIGINT, SIGTERM and SIGHUP
// cancel it or end the following, as `second` says. `signals` has begun. Returns its result; nothing when the following
// was ended. Errors: those of client::FollowOutput; what could not be written to the standard streams.
Result<client::Followed> FollowCommand(const Session& session, SignalWatch& signals);

// What a command's output is written to: the two standard streams, with a notice on stderr where bytes are missing.
client::OutputSink StandardStreams();

// Standard input, when there is something to forward: -1 for /dev/null.
int InputToForward();

}  // namespace caisson::cli
