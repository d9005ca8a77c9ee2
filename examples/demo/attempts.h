#pragma once

#include <string>

#include "inside.h"
#include "outside.h"

namespace caisson::demo {

// Attempts from inside to reach the host: to read a secret file of it, to write to its /usr, to connect to its loopback
// address, to delete its folder. Each expectation goes to the report; where the same command can succeed outside, it
// must, so that nothing fails here for another reason. `host_folder` is the sandbox's workspace, given as a copy.
Status TryToTouchTheHost(Inside& inside, const TemporaryFolder& temporary, const std::string& host_folder,
                         Report& report);

}  // namespace caisson::demo
