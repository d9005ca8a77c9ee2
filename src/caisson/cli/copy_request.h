#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/cli/command_line.h"

namespace caisson::cli {

enum class CopyDirection { kIn, kOut };

// What one `caisson copy` asks for.
struct CopyRequest {
  CopyDirection direction = CopyDirection::kIn;
  std::string sandbox;
  std::string remote;  // absolute
  std::string local;
  enum class Target {
    kAsNamed,
    kInFolder
  } target = Target::kAsNamed;  // kInFolder: it was written with a slash at its end
};

// One of the two is ID:PATH, with a colon before any slash. Touches nothing outside. Errors: kInvalidArgument.
Result<CopyRequest> ReadCopyRequest(const CommandLine& line);

// The last part of a path, by which a copy of it goes; empty for one that has none (/, . and ..).
std::string LastPart(std::string_view path);

// A path below another, with one slash between.
std::string Below(std::string_view folder, std::string_view name);

}  // namespace caisson::cli
