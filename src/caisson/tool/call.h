#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "caisson/sandbox/file_search.h"

namespace caisson::tool {

// What an agent asks a tool for: values that were checked against the tool's schema. A path is absolute, without "."
// and "..". Sizes of texts are bounded by read_call.cc.

struct RunCommand {
  std::optional<std::string> command;  // a text for bash; absent: argv
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::string> cwd;  // absolute
  std::optional<std::chrono::milliseconds> timeout;
  std::string stdin_bytes;  // all of its input, at most 1 MiB
  bool is_background = false;
};

struct ReadFile {
  std::string path;
  std::uint64_t first_line = 1;  // from 1
  std::uint32_t lines = 2000;
};

struct WriteFile {
  std::string path;
  std::string content;
  enum class IfExists : std::uint8_t { kOverwrite, kFail, kAppend } if_exists = IfExists::kOverwrite;
  std::optional<std::string> expected_sha256;  // of what is there, in small hexadecimal
};

struct EditFile {
  std::string path;
  std::string old_text;  // not empty
  std::string new_text;
  std::uint32_t count = 1;  // how often the old text has to be there
  std::optional<std::string> expected_sha256;
};

struct ListDirectory {
  std::string path;
  std::uint32_t depth = 1;
  std::uint32_t limit = 1000;
};

struct SearchFiles {
  sandbox::FileSearch search;  // its path as said above
};

struct ListChanges {};
struct GetEnvironment {};

using Call =
    std::variant<RunCommand, ReadFile, WriteFile, EditFile, ListDirectory, SearchFiles, ListChanges, GetEnvironment>;

// "run_command", ...
std::string_view NameOf(const Call& call);

}  // namespace caisson::tool
