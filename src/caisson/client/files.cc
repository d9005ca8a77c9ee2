#include "caisson/client/files.h"

#include <boost/json.hpp>
#include <charconv>

#include "caisson/base/base64.h"
#include "caisson/base/utf8.h"
#include "caisson/client/problem.h"
#include "caisson/client/reply_reader.h"
#include "caisson/client/target.h"

namespace caisson::client {
namespace {

constexpr const char* kBytes = "application/octet-stream";

std::string FileTarget(std::string_view sandbox, std::string_view path, std::string_view query = {}) {
  while (path.starts_with('/')) path.remove_prefix(1);
  return SandboxTarget(sandbox, "/files/" + EncodePath(path) + std::string(query));
}

// A text that is base64 where `encoding` says so.
std::string BytesAt(const boost::json::object& object, const char* key) {
  const std::string text = TextAt(object, key);
  return TextAt(object, "encoding") == "base64" ? DecodeBase64(text).value_or(std::string()) : text;
}

// Permission bits, which are octal digits in text.
std::uint32_t ModeAt(const boost::json::object& object) {
  std::uint32_t mode = 0;
  const std::string text = TextAt(object, "mode");
  std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  return mode & 07777U;
}

// The whole size of "bytes 0-15/4096".
std::uint64_t SizeOfRange(std::string_view content_range) {
  std::uint64_t size = 0;
  const std::string_view text = content_range.substr(content_range.rfind('/') + 1);
  std::from_chars(text.data(), text.data() + text.size(), size);
  return size;
}

}  // namespace

Result<std::vector<FileEntry>> ListFolder(Http& http, std::string_view sandbox, std::string_view path) {
  CAISSON_TRY(const Reply reply, http.Ask({.target = FileTarget(sandbox, path, "?list")}));
  CAISSON_TRY(const boost::json::value list, ParseObject(reply.body));
  const boost::json::value* items = list.get_object().if_contains("items");
  if (items == nullptr || !items->is_array()) return Fail(NotUnderstood("a list has no items"));
  std::vector<FileEntry> entries;
  for (const boost::json::value& item : items->get_array()) {
    if (!item.is_object()) return Fail(NotUnderstood("an entry is no object"));
    const boost::json::object& object = item.get_object();
    entries.push_back({BytesAt(object, "name"), TextAt(object, "type"),
                       static_cast<std::uint64_t>(IntegerAt(object, "size_bytes")), ModeAt(object)});
  }
  return entries;
}

Result<FilePart> ReadFile(Http& http, std::string_view sandbox, std::string_view path, std::uint64_t offset) {
  constexpr unsigned kPartialContent = 206;
  constexpr unsigned kRangeNotSatisfiable = 416;
  const std::string range =
      "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + kLargestTransfer.value - 1);
  CAISSON_TRY(Reply reply,
              http.Exchange({.target = FileTarget(sandbox, path), .accept = kBytes, .headers = {{"Range", range}}}));
  if (reply.status == kRangeNotSatisfiable) return FilePart{{}, offset};  // an empty file has no range
  if (reply.status >= 400) return Fail(ErrorOfReply(reply.status, reply.body));
  if (reply.status != kPartialContent) {
    if (offset != 0) return Fail(NotUnderstood("it gave the whole file instead of a part"));
    const std::uint64_t size = reply.body.size();
    return FilePart{std::move(reply.body), size};
  }
  return FilePart{std::move(reply.body), SizeOfRange(reply.content_range)};
}

Status WriteFile(Http& http, std::string_view sandbox, std::string_view path, std::string_view content,
                 IfExists if_exists) {
  const char* query = if_exists == IfExists::kAppend ? "?if_exists=append" : "?if_exists=overwrite";
  const Result<Reply> reply =
      http.Ask({.method = "PUT", .target = FileTarget(sandbox, path, query), .body = content, .content_type = kBytes});
  if (!reply) return Fail(reply.error());
  return {};
}

Result<ChangesView> ListChanges(Http& http, std::string_view sandbox) {
  CAISSON_TRY(const Reply reply, http.Ask({.target = SandboxTarget(sandbox, "/changes")}));
  CAISSON_TRY(const boost::json::value list, ParseObject(reply.body));
  const boost::json::value* items = list.get_object().if_contains("items");
  if (items == nullptr || !items->is_array()) return Fail(NotUnderstood("a list has no items"));
  ChangesView view;
  view.truncated = FlagAt(list.get_object(), "truncated");
  view.items_json = boost::json::serialize(*items);
  for (const boost::json::value& item : items->get_array()) {
    if (!item.is_object()) return Fail(NotUnderstood("a change is no object"));
    const boost::json::object& object = item.get_object();
    view.items.push_back({BytesAt(object, "path"), TextAt(object, "change"), TextAt(object, "type")});
  }
  return view;
}

}  // namespace caisson::client
