#include "caisson/wire/tool_json.h"

#include <boost/json.hpp>

#include "caisson/base/base64.h"
#include "caisson/base/utf8.h"
#include "caisson/wire/change_json.h"
#include "caisson/wire/file_json.h"

namespace caisson::wire {
namespace {

boost::json::value TextOrNull(const std::optional<std::string>& text) {
  return text ? boost::json::value(*text) : boost::json::value(nullptr);
}

// A path of a sandbox may hold any bytes but zero.
std::string PathText(const std::string& path) { return ReplaceInvalidUtf8(path); }

boost::json::array Texts(const std::vector<std::string>& texts) {
  boost::json::array array;
  for (const std::string& text : texts) array.emplace_back(PathText(text));
  return array;
}

struct Writer {
  boost::json::object operator()(const tool::FileText& text) const {
    const bool is_text = IsUtf8(text.bytes);
    boost::json::object object{{"path", PathText(text.path)},
                               {"content", is_text ? text.bytes : Base64(text.bytes)},
                               {"encoding", is_text ? "utf-8" : "base64"},
                               {"offset", text.first_line},
                               {"lines", text.lines},
                               {"next_offset", nullptr},
                               {"cut", text.is_cut},
                               {"size_bytes", text.size_bytes},
                               {"sha256", TextOrNull(text.sha256)}};
    if (text.next_line) object["next_offset"] = *text.next_line;
    return object;
  }

  boost::json::object operator()(const tool::FileWritten& written) const {
    constexpr const char* kNames[] = {"created", "replaced", "appended"};
    return {{"path", PathText(written.path)},
            {"wrote", kNames[static_cast<std::size_t>(written.wrote)]},
            {"size_bytes", written.size_bytes},
            {"sha256", TextOrNull(written.sha256)}};
  }

  boost::json::object operator()(const tool::FileEdited& edited) const {
    return {{"path", PathText(edited.path)},
            {"replaced", edited.replaced},
            {"line", edited.line},
            {"size_bytes", edited.size_bytes},
            {"sha256", edited.sha256}};
  }

  boost::json::object operator()(const tool::Listing& listing) const {
    boost::json::array entries;
    for (const sandbox::TreeEntry& entry : listing.tree.entries) entries.push_back(EntryObject(entry));
    return {{"path", PathText(listing.path)},
            {"entries", std::move(entries)},
            {"truncated", listing.tree.truncated},
            {"seen", listing.tree.seen}};
  }

  boost::json::object operator()(const tool::Found& found) const {
    boost::json::array matches;
    for (const sandbox::FileMatch& match : found.matches.matches) {
      const bool is_text = IsUtf8(match.path) && IsUtf8(match.text);
      boost::json::object object{{"path", is_text ? match.path : Base64(match.path)},
                                 {"line", match.line},
                                 {"column", match.column},
                                 {"text", is_text ? match.text : Base64(match.text)}};
      if (!is_text) object["encoding"] = "base64";
      matches.push_back(std::move(object));
    }
    return {{"path", PathText(found.path)},
            {"matches", std::move(matches)},
            {"truncated", found.matches.truncated},
            {"files_searched", found.matches.files_searched},
            {"files_skipped", found.matches.files_skipped}};
  }

  boost::json::object operator()(const plan::ChangeList& list) const {
    return {{"changes", ChangeArray(list)}, {"truncated", list.truncated}};
  }

  boost::json::object operator()(const tool::Environment& environment) const {
    return {{"image", PathText(environment.image)},
            {"workspace", environment.workspace},
            {"user", environment.user},
            {"network", "none"},
            {"limits",
             {{"cpus", environment.cpus},
              {"memory_bytes", environment.memory_bytes},
              {"disk_bytes", environment.disk_bytes},
              {"pids", environment.pids},
              {"command_timeout_ms", environment.timeout_ms}}},
            {"env", Texts(environment.variables)},
            {"policy",
             {{"name", environment.policy},
              {"otherwise", environment.otherwise},
              {"commands", Texts(environment.commands)},
              {"readable", Texts(environment.readable)},
              {"writable", Texts(environment.writable)}}}};
  }
};

}  // namespace

boost::json::object DataObject(const tool::Data& data) { return std::visit(Writer{}, data); }

}  // namespace caisson::wire
