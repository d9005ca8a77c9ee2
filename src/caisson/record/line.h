#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "caisson/record/chain.h"
#include "caisson/record/fault.h"

namespace caisson::record {

// What places a record in its chain, and what records are searched by.
struct Line {
  std::string ts;
  std::string sandbox;
  std::string kind;
  std::string tool;     // empty: null
  std::string outcome;  // empty: null
  Sha256 prev{};
  Head head;
  std::optional<Head> dropped;  // of a gap that says so: the last record of the files that were dropped
};

// Reads one line, without its newline. kNotJson, kNotARecord or kTooLong for what is none. Whether it was changed is
// for IsUnchanged.
std::variant<Line, Fault> ReadLine(std::string_view text);

// True when the content of the line fits its hash.
bool IsUnchanged(const Line& line, std::string_view text);

// The `detail` of the gap that says that the records up to `head` were dropped with their files.
std::string DroppedDetail(const Head& head);

}  // namespace caisson::record
