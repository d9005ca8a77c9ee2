#pragma once

#include <map>
#include <string>

#include "caisson/base/result.h"
#include "caisson/launcher/host_trees.h"
#include "caisson/launcher/keeper.h"
#include "caisson/launcher/launch.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Descriptors the launcher is started with. Nothing else comes in but requests.
struct ServerInputs {
  os::Fd engine;   // the connection to the engine
  os::Fd data;     // the data folder, with `images` and `sandboxes` in it
  os::Fd runtime;  // the folder of lock files
};

// The launcher: answers one request after the other until the engine's end closes, then ends every sandbox that is
// left. Single-threaded. Returns the exit status.
int RunServer(ServerInputs inputs, plan::Expect expect);

}  // namespace caisson::launcher
