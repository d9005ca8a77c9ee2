#pragma once

#include "caisson/os/fd.h"
#include "caisson/storage/writable_layer.h"

namespace caisson::storage {

// The storage process: makes, watches and removes writable layers. Runs as root in the host's mount namespace, forked
// from the launcher, with one thread. Verbs: plan/layer_plan.h. Returns when the launcher's end of the connection
// closes and every layer is removed. With kManySandboxes it is ready to watch layers from their start.
void RunStorage(os::Fd launcher, LayerPlaces places, plan::Expect expect);

}  // namespace caisson::storage
