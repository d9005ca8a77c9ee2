#pragma once

#include "caisson/os/fd.h"

namespace caisson::guest {

// The life of PID 1 of a sandbox: reads Configure, locks itself down, then starts commands on request and reaps until
// the control stream closes. A packet socket in its place is a door: control streams come through it, one engine's
// after the other's, and its end is the end. Every request is answered at once; what takes time happens in children.
// Call from the only thread; returns the exit status.
int RunGuest(os::Fd connection);

}  // namespace caisson::guest
