#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace caisson::plan {

enum class ChangeKind : std::uint8_t {
  kCreated,
  kModified,  // its content, or what a link points to, or its type
  kDeleted,
  kMetadata,  // mode or owner; of a file times and attributes too; not the content
};

enum class EntryType : std::uint8_t { kFile, kDirectory, kSymlink, kOther };

// What happened to one path between two moments, whatever was done and undone in between.
struct Change {
  std::string path;  // absolute, as the sandbox sees it; bytes, not always UTF-8
  ChangeKind kind = ChangeKind::kModified;
  EntryType type = EntryType::kFile;  // of a deleted entry: what it was
  std::uint64_t size_bytes = 0;       // of a file that exists
};

// Sorted by path, every path once.
struct ChangeList {
  std::vector<Change> changes;
  bool truncated = false;  // there is more than the limits let through, or something could not be read
};

// What a list holds at most.
inline constexpr std::size_t kMaxChanges = 1000;
inline constexpr std::size_t kMaxChangeBytes = std::size_t{512} << 10U;  // of paths

}  // namespace caisson::plan
