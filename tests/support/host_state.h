#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace caisson::support {

// What Caisson can leave behind on this host, one line each, with what tells it from another of the same name: its
// processes below this one, mounts, cgroups, loop devices, System V objects of root's and of its own users, named
// network namespaces, descriptors of this process, locked blocks of user ids, files of the data folder, subvolumes and
// quota groups of the store. What others on the same host have in use is left out, as far as the kernel tells; locks,
// files and what the store holds do not tell, and are left out while there are others.
using HostState = std::set<std::string>;

HostState ReadHostState();

// True when Caisson runs on this host outside this process's descendants.
bool OthersUseCaisson();

// From here on, processes that this one's programs leave without a parent become its own children: ReadHostState finds
// them.
void AdoptOrphans();

// Waits until all that exists now and is not in `before` is gone, and returns what is not by then. What appears while
// it waits is somebody else's.
HostState AwaitNothingNew(const HostState& before, std::chrono::milliseconds patience = std::chrono::seconds(20));

// The descendants of a process of the host, parents before their children.
std::vector<pid_t> ProcessesBelow(pid_t root);

// A text that no other process of this host has in its arguments.
std::string UniqueMarker();
// How many processes of the host have `marker` in their arguments, whatever pid namespace they are in.
int CountProcessesNaming(std::string_view marker);
// Waits until there are at least or, with 0, none of them.
bool AwaitProcessesNaming(std::string_view marker, int count,
                          std::chrono::milliseconds patience = std::chrono::seconds(20));

// The text after "NAME:" in a status file of proc, blanks at its ends removed; empty when it is not there.
std::string StatusField(const std::string& status, std::string_view name);

// The folders named `caisson` in every mounted cgroup hierarchy, where they exist.
std::vector<std::string> CgroupFolders();

}  // namespace caisson::support
