#pragma once

#include "caisson/base/result.h"

namespace caisson::storage {

// Makes the `etc` of the image `host` below `image`: users root, agent and nobody, name service, hosts, and those of
// the host's own settings that its programs need and everybody may read (the linker's cache, alternatives,
// certificates, language configuration). `host_root` is the host's root directory. Never copied: shadow files, keys,
// home folders.
Status MakeHostEtc(int host_root, int image);

}  // namespace caisson::storage
