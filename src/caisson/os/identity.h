#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "caisson/base/result.h"

namespace caisson::os {

// User and group ids that Caisson takes for itself: 2,048 blocks of 131,072 ids. systemd and useradd leave this part
// of the 32-bit range alone (systemd's UIDS-GIDS document lists it as unused). Block 0 is the engine's.
inline constexpr std::uint32_t kFirstUid = 0x70000000;
inline constexpr std::uint32_t kUidsPerBlock = 131072;
inline constexpr std::uint32_t kUidBlocks = 2048;
inline constexpr std::uint32_t kEngineUid = kFirstUid + 1;

// Errors: kUnsupported for a process that is not root; `purpose` follows "Caisson needs root to".
Status RequireRoot(const std::string& purpose);

// Turns this process into the unprivileged engine: uid and gid kEngineUid, no groups, no capability in any set,
// no_new_privs, not dumpable. Irreversible. Call from the only thread. Errors: kInternal; the caller must then end.
Status BecomeEngineUser();

// Empties the bounding set of the calling thread: nothing it executes can gain a capability. Needs CAP_SETPCAP.
Status DropBoundingSet();

// Empties the ambient, permitted, effective and inheritable sets of the calling thread.
Status DropCapabilities();

// Leaves the calling thread, and whatever it executes, no capability but these (CAP_*), and sets no_new_privs. Needs
// CAP_SETPCAP.
Status KeepOnlyCapabilities(std::initializer_list<unsigned> kept);

}  // namespace caisson::os
