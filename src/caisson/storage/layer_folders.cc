#include "caisson/storage/layer_folders.h"

#include <fcntl.h>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/store_upkeep.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

}  // namespace

std::vector<LayerFolder> LayerFolders(const os::Fd& data) {
  std::vector<LayerFolder> folders;
  os::Fd plain(openat(data.get(), "sandboxes", kDirectory));
  if (plain.valid()) folders.push_back({std::move(plain), false});
  os::Fd store = OpenStoreLayers(data);
  if (store.valid()) folders.push_back({std::move(store), true});
  return folders;
}

bool AllLayersAreKnown(const os::Fd& data) { return !ReadStore(data) || OpenStoreLayers(data).valid(); }

std::set<std::string> ImagesOfKeptLayers(const os::Fd& data) {
  std::set<std::string> images;
  for (const auto& [folder, is_of_store] : LayerFolders(data)) {
    for (const std::string& name : os::NamesIn(folder)) {
      const os::Fd layer(IsKept(folder, name) ? openat(folder.get(), name.c_str(), kDirectory) : -1);
      if (layer.valid()) images.insert(ImageOfKept(layer));
    }
  }
  return images;
}

}  // namespace caisson::storage
