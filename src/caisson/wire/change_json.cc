#include "caisson/wire/change_json.h"

#include <boost/json.hpp>

#include "caisson/base/base64.h"
#include "caisson/base/utf8.h"

namespace caisson::wire {
namespace {

const char* TypeName(plan::EntryType type) {
  switch (type) {
    case plan::EntryType::kFile:
      return "file";
    case plan::EntryType::kDirectory:
      return "directory";
    case plan::EntryType::kSymlink:
      return "symlink";
    case plan::EntryType::kOther:
      return "other";
  }
  return "other";
}

}  // namespace

const char* KindName(plan::ChangeKind kind) {
  switch (kind) {
    case plan::ChangeKind::kCreated:
      return "created";
    case plan::ChangeKind::kModified:
      return "modified";
    case plan::ChangeKind::kDeleted:
      return "deleted";
    case plan::ChangeKind::kMetadata:
      return "metadata";
  }
  return "modified";
}

boost::json::array ChangeArray(const plan::ChangeList& list) {
  boost::json::array entries;
  for (const plan::Change& change : list.changes) {
    boost::json::object entry;
    const bool is_text = IsUtf8(change.path);
    entry["path"] = is_text ? change.path : Base64(change.path);
    if (!is_text) entry["encoding"] = "base64";
    entry["change"] = KindName(change.kind);
    entry["type"] = TypeName(change.type);
    entry["size_bytes"] = nullptr;
    const bool has_size = change.type == plan::EntryType::kFile && change.kind != plan::ChangeKind::kDeleted;
    if (has_size) entry["size_bytes"] = change.size_bytes;
    entries.push_back(std::move(entry));
  }
  return entries;
}

void AddChanges(const std::optional<plan::ChangeList>& list, boost::json::object& object) {
  object["files_changed"] = nullptr;
  object["files_changed_truncated"] = list && list->truncated;
  if (list) object["files_changed"] = ChangeArray(*list);
}

}  // namespace caisson::wire
