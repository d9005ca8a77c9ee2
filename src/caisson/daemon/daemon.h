#pragma once

#include <string>
#include <vector>

namespace caisson::daemon {

// The life of a daemon: takes the data folder for itself, takes over or starts the launcher, gives up root, and answers
// until it is told to end, has been idle for long, or the launcher has ended. Sandboxes stay for the next one.
// `arguments` as ReadOptions; `program_directory` holds the other programs. Call from the only thread, as root. Returns
// the exit status: 0, 2 for wrong arguments, 3 for what failed.
int RunDaemon(const std::vector<std::string>& arguments, const std::string& program_directory);

}  // namespace caisson::daemon
