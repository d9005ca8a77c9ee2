#pragma once

#include "caisson/base/result.h"

namespace caisson::guest {

// Gives an image that Caisson did not make what every sandbox has: the user `agent` with home and workspace, and
// writable /tmp. Runs inside the sandbox as its root before the lock-down, in the writable layer, so that nothing the
// image holds in these places can reach the host.
Status PrepareImage();

}  // namespace caisson::guest
