#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caisson::cli {

// What a node said as JSON, for printing.

// The same on one line, newline included, its numbers without exponents; empty when it is no JSON.
std::string ReplyLine(std::string_view json);

// The members of an object in their order, each value as text: texts as they are, other values as JSON, null as "-".
std::vector<std::pair<std::string, std::string>> ReplyMembers(std::string_view json);

// The value of one member of an object as JSON; empty when there is none.
std::string ReplyMember(std::string_view json, std::string_view key);

}  // namespace caisson::cli
