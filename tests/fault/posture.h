#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace caisson::fault {

// All that confines the stopped process `command` of the sandbox with PID 1 `guest`, as the host sees it: ids,
// capabilities, no_new_privs, seccomp, resource limits, namespaces other than this process's, mounts, descriptors,
// cgroups and their limits. Two sandboxes of the same options have the same text. Nothing while one of them ends. Needs
// root.
std::optional<std::string> ReadPosture(pid_t command, pid_t guest);

}  // namespace caisson::fault
