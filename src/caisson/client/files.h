#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/client/http.h"

namespace caisson::client {

// What can be asked of a node about the files of a sandbox. Paths are absolute. Errors of each: those of Http::Ask;
// kInternal for an answer that is not understood.

inline constexpr Bytes kLargestTransfer = MiB(16);  // of one read or write

struct FileEntry {
  std::string name;  // as the sandbox has it: any bytes
  std::string type;  // "file", "directory", "symlink", ...
  std::uint64_t size_bytes = 0;
  std::uint32_t mode = 0;
};

struct FilePart {
  std::string bytes;
  std::uint64_t size_bytes = 0;  // of the whole file
};

enum class IfExists : std::uint8_t { kOverwrite, kAppend };

struct ChangeView {
  std::string path;
  std::string change;  // "created", "modified", "deleted", "metadata"
  std::string type;
};

struct ChangesView {
  std::vector<ChangeView> items;
  bool truncated = false;
  std::string items_json;
};

Result<std::vector<FileEntry>> ListFolder(Http& http, std::string_view sandbox, std::string_view path);
// At most kLargestTransfer from `offset`; nothing past the end.
Result<FilePart> ReadFile(Http& http, std::string_view sandbox, std::string_view path, std::uint64_t offset);
// `content`: at most kLargestTransfer.
Status WriteFile(Http& http, std::string_view sandbox, std::string_view path, std::string_view content,
                 IfExists if_exists);
Result<ChangesView> ListChanges(Http& http, std::string_view sandbox);

}  // namespace caisson::client
