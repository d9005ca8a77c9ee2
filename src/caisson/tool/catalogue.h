#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace caisson::tool {

// The tools as api/tools describes them. Pure.

struct Entry {
  std::string name;
  std::string title;
  std::string effect;  // "read", "change", "destroy" or "execute"
};
std::vector<Entry> Entries();

// Whose form the schemas take. kWhole: everything that api/tools says.
enum class Format : std::uint8_t { kWhole, kMcp, kOpenAi, kAnthropic, kGemini };

// One JSON value on one line. kMcp: the result of tools/list. kOpenAi: `tools` of a request for a chat completion.
// kAnthropic: `tools` of a request for a message. kGemini: `tools` of a request to generate content.
std::string Describe(Format format);

}  // namespace caisson::tool
