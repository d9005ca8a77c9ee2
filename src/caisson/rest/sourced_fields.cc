#include "caisson/rest/sourced_fields.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <string_view>

#include "caisson/base/utf8.h"
#include "caisson/json/object_reader.h"

namespace caisson::rest {
namespace {

constexpr std::array<const char*, 13> kFields = {
    "image",   "workspace", "cpus",   "memory_bytes",    "disk_bytes",      "pids",  "command_timeout_ms",
    "storage", "env",       "on_end", "idle_timeout_ms", "max_lifetime_ms", "policy"};
constexpr const char* kDefault = "default";
constexpr std::size_t kLongestSource = 255;

}  // namespace

service::ValueSources ReadSources(json::ObjectReader& reader) {
  service::ValueSources sources;
  for (const char* field : kFields) {
    if (reader.Has(field)) sources[field] = "request";
  }
  for (const auto& [field, source] : reader.Pairs("sources", kFields.size(), kLongestSource)) {
    if (std::find(kFields.begin(), kFields.end(), field) == kFields.end() || source.empty() ||
        Printable(source) != source) {
      reader.Refuse("sources",
                    "must say of fields of this body where they came from, for example {\"pids\": \"--pids\"}");
    } else if (const auto known = sources.find(field); known != sources.end()) {
      known->second = source;
    }
  }
  std::erase_if(sources, [](const auto& source) { return source.second == kDefault; });
  return sources;
}

boost::json::value SourcesValue(const std::optional<service::ValueSources>& sources) {
  if (!sources) return nullptr;
  boost::json::object object;
  for (const char* field : kFields) {
    const auto found = sources->find(field);
    object[field] = found == sources->end() ? kDefault : found->second;
  }
  return object;
}

}  // namespace caisson::rest
