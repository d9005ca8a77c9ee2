#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "caisson/storage/tree_reader.h"

namespace caisson::storage {

struct UpperEntry;
using UpperChildren = std::map<std::string, UpperEntry, std::less<>>;

// One entry of an overlay's upper layer, with what overlayfs noted on it. Source: the kernel's
// Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories", "redirect_dir".
struct UpperEntry {
  FileStamp stamp;
  bool is_opaque = false;                   // of a folder: nothing of the lower layer shows in it
  std::string redirect;                     // of a folder: where its lower part is, from the lower root or beside it
  std::unique_ptr<UpperChildren> children;  // of a folder that has any
};

// How much of a hostile tree is read.
struct ReadBudget {
  std::uint64_t entries = 0;  // may still be read
  bool exceeded = false;      // something was not read: too many entries, or deeper than kMaxPath
};

// Reads the folder `path` of an upper layer with all below it.
UpperEntry ReadUpper(TreeReader& upper, const std::string& path, const FileStamp& stamp, ReadBudget& budget);

// What overlayfs noted on the folder `path`, and nothing else of it.
void ReadOverlayMarks(TreeReader& upper, const std::string& path, UpperEntry& entry);

// The entry of a path below `root`, or nullptr.
UpperEntry* FindEntry(UpperEntry& root, std::string_view path);

}  // namespace caisson::storage
