#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/cgroup.h"
#include "caisson/os/fd.h"
#include "caisson/storage/store_upkeep.h"

namespace caisson::storage {

// Where Caisson keeps things on this host, each folder open or, where it does not exist, invalid.
struct Places {
  os::Fd data;            // the data folder
  os::Fd runtime;         // the folder of lock files
  os::Fd host_root;       // what the image `host` is made from
  std::string data_path;  // names the data folder in errors
};

enum class ItemKind {
  kImage,
  kLayer,
  kCgroup,
  kCopy,  // of a workspace, for a sandbox that stays
  // Only of what Purge removes:
  kMount,
  kFile,
  kFolder,
};
enum class ItemState {
  kInUse,     // a living process has it
  kKept,      // nobody has it, but the next sandbox takes it, or somebody wanted it to stay
  kLeftOver,  // nobody has it and nobody will: its owner has died, or the host has changed
};

struct Item {
  ItemKind kind = ItemKind::kLayer;
  std::string name;
  ItemState state = ItemState::kInUse;
  Bytes allocated;  // 0 for a cgroup
};

struct Inventory {
  std::vector<Item> items;          // images, layers, copies, cgroups
  std::optional<StoreUsage> store;  // absent: there is no file
  Bytes spool;                      // files with a name; those of running engines have none
  std::vector<std::uint32_t> uid_blocks;
  Bytes disk_size;  // of the file system that holds the data folder; 0 without a data folder
  Bytes disk_free;  // for root
};

// What there is now. Changes nothing, and takes a lock for moments at most. Sizes take a walk through every layer.
Result<Inventory> ReadInventory(const Places& places);

// Caisson's folder of cgroups, when there is one.
Result<std::optional<os::Cgroup>> FindCgroups();

// "image", "layer", "cgroup", "copy", "mount", "file", "folder".
std::string_view KindName(ItemKind kind);
// "in_use", "kept", "left_over".
std::string_view StateName(ItemState state);

}  // namespace caisson::storage
