#pragma once

#include <cstdint>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// One line of a uid or gid map: `count` ids from `inside` show outside as those from `outside`. Source:
// user_namespaces(7).
struct IdRange {
  std::uint32_t inside = 0;
  std::uint32_t outside = 0;
  std::uint32_t count = 0;
};

// The lines of a map file, at most 340.
std::string FormatIdMap(const std::vector<IdRange>& ranges);

// A user namespace that no process lives in, held by its descriptor: the id map of mounts (MapIds). Needs root.
Result<Fd> MakeUserNamespace(const std::vector<IdRange>& uids, const std::vector<IdRange>& gids);

// Puts the calling thread into a new network namespace whose loopback is up, with ports below 1024 free for all,
// TCP Fast Open off and unprivileged ICMP sockets off, and returns the namespace. Needs CAP_NET_ADMIN.
Result<Fd> EnterNewNetworkNamespace();

// The calling thread's namespace of a kind: "net", "mnt", "cgroup".
Result<Fd> OpenNamespace(const char* kind);
Status EnterNamespace(const Fd& space);

// Gives the calling process the root of its mount namespace, whatever chroot(2) it was started in. Needs CAP_SYS_ADMIN
// and CAP_SYS_CHROOT.
Status LeaveChroot();

}  // namespace caisson::os
