#pragma once

#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Descriptors the launcher is started with. Nothing else comes in but requests.
struct ServerInputs {
  os::Fd engine;   // the connection to the engine
  os::Fd data;     // the data folder, with `images` and `sandboxes` in it
  os::Fd runtime;  // the folder of lock files
  os::Fd door;     // with kEngines: a listening socket, see Door
};

// The launcher: answers one request after the other until the engine's end closes, then ends every sandbox that is
// left. With kEngines it waits for the next engine as long as there is a sandbox. Single-threaded. Returns the exit
// status.
int RunServer(ServerInputs inputs, plan::Expect expect);

}  // namespace caisson::launcher
