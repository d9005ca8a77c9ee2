#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "caisson/plan/change.h"
#include "caisson/sandbox/file_search.h"
#include "caisson/sandbox/files.h"

namespace caisson::tool {

// What a tool answers with beside the result of its step: the field `data`.

struct FileText {
  std::string path;
  std::string bytes;  // whole lines, unless one is longer than may be told
  std::uint64_t first_line = 1;
  std::uint64_t lines = 0;
  bool is_cut = false;                     // its only line is longer than may be told
  std::optional<std::uint64_t> next_line;  // to go on with; absent: that was the end
  std::uint64_t size_bytes = 0;            // of the file
  std::optional<std::string> sha256;       // of the file, when all of it was read
};

struct FileWritten {
  std::string path;
  sandbox::Wrote wrote = sandbox::Wrote::kCreated;
  std::uint64_t size_bytes = 0;
  std::optional<std::string> sha256 = {};  // absent: of what was appended to
};

struct FileEdited {
  std::string path;
  std::uint32_t replaced = 0;
  std::uint64_t line = 1;  // of the first place
  std::uint64_t size_bytes = 0;
  std::string sha256;
};

struct Listing {
  std::string path;
  sandbox::FolderTree tree;
};

struct Found {
  std::string path;
  sandbox::FileMatches matches;
};

struct Environment {
  std::string image;
  std::string workspace;
  std::string user;
  double cpus = 0;
  std::uint64_t memory_bytes = 0, disk_bytes = 0;
  std::uint32_t pids = 0;
  std::int64_t timeout_ms = 0;
  std::vector<std::string> variables;  // names
  std::string policy;
  std::string otherwise;              // what becomes of what no rule allows: "allow", "ask" or "deny"
  std::vector<std::string> commands;  // that may be run without being asked for
  std::vector<std::string> readable, writable;
};

using Data = std::variant<FileText, FileWritten, FileEdited, Listing, Found, plan::ChangeList, Environment>;

}  // namespace caisson::tool
