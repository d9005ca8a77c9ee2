#include "caisson/wire/file_json.h"

#include <boost/json.hpp>

#include "caisson/base/base64.h"
#include "caisson/base/time_text.h"
#include "caisson/base/utf8.h"

namespace caisson::wire {
namespace {

const char* TypeName(sandbox::FileType type) {
  switch (type) {
    case sandbox::FileType::kFile:
      return "file";
    case sandbox::FileType::kDirectory:
      return "directory";
    case sandbox::FileType::kSymlink:
      return "symlink";
    case sandbox::FileType::kFifo:
      return "fifo";
    case sandbox::FileType::kSocket:
      return "socket";
    case sandbox::FileType::kDevice:
      return "device";
  }
  return "file";
}

std::string ModeText(std::uint32_t mode) {
  std::string text;
  for (int shift = 9; shift >= 0; shift -= 3)
    text += static_cast<char>('0' + ((mode >> static_cast<unsigned>(shift)) & 7U));
  return text;
}

template <typename Entry>
boost::json::object ObjectOf(const char* name_key, const std::string& name, const Entry& entry) {
  const bool is_text = IsUtf8(name) && IsUtf8(entry.link_target);
  boost::json::object item;
  item[name_key] = is_text ? name : Base64(name);
  if (!is_text) item["encoding"] = "base64";
  item["type"] = TypeName(entry.type);
  item["size_bytes"] = entry.size_bytes;
  item["mode"] = ModeText(entry.mode);
  item["modified_at"] = TimeText(entry.modified_unix_ms);
  item["link_target"] = nullptr;
  if (!entry.link_target.empty()) item["link_target"] = is_text ? entry.link_target : Base64(entry.link_target);
  return item;
}

}  // namespace

boost::json::object EntryObject(const sandbox::FileEntry& entry) { return ObjectOf("name", entry.name, entry); }

boost::json::object EntryObject(const sandbox::TreeEntry& entry) {
  boost::json::object item = ObjectOf("path", entry.path, entry);
  item["unreadable"] = entry.is_unreadable;
  return item;
}

}  // namespace caisson::wire
