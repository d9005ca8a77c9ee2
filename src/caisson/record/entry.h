#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/sha256.h"
#include "caisson/base/units.h"

namespace caisson::record {

// A time of day: UTC, in milliseconds since 1970.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

// What a record tells of.
enum class Kind { kStep, kLifecycle, kApproval, kPolicy, kWarning, kStop, kGap };

// Through what the caller asked.
enum class Face { kCli, kRest, kE2b, kMcp, kAgent, kNode };

// What the policy said. `effect`: "allow", "deny", "ask"; `source`: "policy.toml:14".
struct Decision {
  std::string effect;
  std::optional<std::string> rule;
  std::optional<std::string> source;
  std::optional<std::string> reason;
};

// What a step wrote to one stream. `text`: its beginning, at least limits.h's kStreamWindow bytes where there are as
// many. `size` and `sha256` are those of the whole stream, as the sandbox wrote it.
struct Stream {
  std::string text;
  Bytes size;
  std::optional<Sha256> sha256;
};

// `change` and `type` in the words of a result: "created", "file".
struct ChangedFile {
  std::string path;
  std::string change;
  std::string type;
  std::optional<Bytes> size;
};

// One record of the audit, before the chain gives it its number. All texts may hold any bytes; what does not apply is
// left out, and null in the JSON. A plain value.
struct Entry {
  Time time;
  Kind kind = Kind::kStep;
  std::optional<std::string> tenant;
  std::optional<std::string> caller;
  std::optional<Face> face;
  std::optional<std::string> tool;
  std::optional<std::string> args;  // JSON text
  std::optional<Decision> decision;
  std::optional<std::string> outcome;
  std::optional<int> exit_code;
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<Stream> standard_output;
  std::optional<Stream> standard_error;
  std::optional<std::vector<ChangedFile>> files_changed;
  std::vector<std::string> hints;  // their codes
  std::optional<std::string> checkpoint;
  std::optional<std::string> detail;  // JSON text: what a record tells that is no step
};

}  // namespace caisson::record
