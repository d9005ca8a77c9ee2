#pragma once

#include <set>
#include <string>
#include <vector>

#include "caisson/os/fd.h"

namespace caisson::storage {

// The folders that layers on disk lie in, those that exist and, of a store, only when it is mounted. `data`: the data
// folder.
struct LayerFolder {
  os::Fd folder;
  bool is_of_store = false;
};
std::vector<LayerFolder> LayerFolders(const os::Fd& data);

// False while there is a store that is not mounted: what its layers need, nobody knows.
bool AllLayersAreKnown(const os::Fd& data);

// The images that kept layers (kept_layer.h) need.
std::set<std::string> ImagesOfKeptLayers(const os::Fd& data);

}  // namespace caisson::storage
