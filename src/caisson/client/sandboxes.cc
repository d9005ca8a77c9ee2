#include "caisson/client/sandboxes.h"

#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/client/reply_reader.h"
#include "caisson/client/target.h"

namespace caisson::client {
namespace {

constexpr const char* kJson = "application/json";

std::map<std::string, std::string> TextsAt(const boost::json::object& object, const char* key) {
  std::map<std::string, std::string> texts;
  const boost::json::value* inner = object.if_contains(key);
  if (inner == nullptr || !inner->is_object()) return texts;
  for (const boost::json::key_value_pair& member : inner->get_object()) {
    if (member.value().is_string()) texts[member.key()] = std::string(member.value().get_string());
  }
  return texts;
}

Result<SandboxView> ViewOf(const boost::json::value& value) {
  if (!value.is_object()) return Fail(NotUnderstood("a sandbox is no object"));
  const boost::json::object& object = value.get_object();
  SandboxView view;
  view.id = TextAt(object, "id");
  if (view.id.empty()) return Fail(NotUnderstood("a sandbox has no id"));
  view.name = OptionalTextAt(object, "name");
  view.state = TextAt(object, "state");
  view.reason = TextAt(object, "reason");
  view.image = TextAt(object, "image");
  view.storage = TextAt(object, "storage");
  view.created_at = TextAt(object, "created_at");
  view.commands_running = IntegerAt(object, "commands_running");
  view.labels = TextsAt(object, "labels");
  view.sources = TextsAt(object, "sources");
  view.json = boost::json::serialize(value);
  return view;
}

Result<SandboxView> AskForOne(Http& http, const Request& request) {
  CAISSON_TRY(const Reply reply, http.Ask(request));
  CAISSON_TRY(const boost::json::value value, ParseObject(reply.body));
  return ViewOf(value);
}

template <typename Pairs>
Result<boost::json::object> ObjectOf(const Pairs& pairs, const char* what) {
  boost::json::object object;
  for (const auto& [name, value] : pairs) {
    if (!IsUtf8(name) || !IsUtf8(value)) {
      return Fail(Error(Code::kInvalidArgument, std::string(what) + " " + Quoted(name) + " is not UTF-8")
                      .Because("a node takes text only")
                      .Remedy("bring other bytes in through a file"));
    }
    object[name] = value;
  }
  return object;
}

}  // namespace

Result<std::string> CreateBody(const CreateRequest& request) {
  boost::json::object body;
  if (request.name) body["name"] = *request.name;
  CAISSON_TRY(body["labels"], ObjectOf(request.labels, "the label"));
  body["cpus"] = static_cast<double>(request.cpus.value) / 1000;
  body["memory_bytes"] = request.memory.value;
  if (request.disk.value != 0) body["disk_bytes"] = request.disk.value;
  body["pids"] = request.pids;
  body["command_timeout_ms"] = request.command_timeout.count();
  body["storage"] = request.storage;
  CAISSON_TRY(body["env"], ObjectOf(request.env, "the variable"));
  if (request.image_ticket) body["image"] = boost::json::object{{"ticket", *request.image_ticket}};
  if (request.workspace_ticket) {
    body["workspace"] = boost::json::object{{"ticket", *request.workspace_ticket}, {"mode", request.workspace_mode}};
  }
  if (request.on_end != "delete") body["on_end"] = request.on_end;
  if (request.idle_timeout) body["idle_timeout_ms"] = request.idle_timeout->count();
  if (request.max_lifetime) body["max_lifetime_ms"] = request.max_lifetime->count();
  if (request.policy) {
    CAISSON_TRY(body["policy"], ObjectOf(*request.policy));
  }
  CAISSON_TRY(body["sources"], ObjectOf(request.sources, "where a value came from,"));
  return boost::json::serialize(body);
}

Result<SandboxView> CreateSandbox(Http& http, const CreateRequest& request) {
  CAISSON_TRY(const std::string body, CreateBody(request));
  return AskForOne(http, {.method = "POST", .target = "/v1/sandboxes", .body = body, .content_type = kJson});
}

Result<SandboxView> GetSandbox(Http& http, std::string_view sandbox) {
  return AskForOne(http, {.target = SandboxTarget(sandbox)});
}

Result<std::vector<SandboxView>> ListSandboxes(Http& http, const std::optional<std::string>& state) {
  std::vector<SandboxView> all;
  std::optional<std::string> cursor;
  do {
    std::string target = "/v1/sandboxes?limit=1000";
    if (state) target += "&state=" + EncodeSegment(*state);
    if (cursor) target += "&cursor=" + EncodeSegment(*cursor);
    CAISSON_TRY(const Reply reply, http.Ask({.target = std::move(target)}));
    CAISSON_TRY(const boost::json::value page, ParseObject(reply.body));
    const boost::json::value* items = page.get_object().if_contains("items");
    if (items == nullptr || !items->is_array()) return Fail(NotUnderstood("a list has no items"));
    for (const boost::json::value& item : items->get_array()) {
      CAISSON_TRY(SandboxView view, ViewOf(item));
      all.push_back(std::move(view));
    }
    cursor = OptionalTextAt(page.get_object(), "next_cursor");
    if (items->get_array().empty()) break;  // a page without items leads nowhere
  } while (cursor && all.size() < kMostListed);
  return all;
}

Result<SandboxView> ChangeSandbox(Http& http, std::string_view sandbox, std::string_view verb) {
  return AskForOne(http, {.method = "POST", .target = SandboxTarget(sandbox, ":" + std::string(verb))});
}

Result<SandboxView> DeleteSandbox(Http& http, std::string_view sandbox) {
  return AskForOne(http, {.method = "DELETE", .target = SandboxTarget(sandbox)});
}

}  // namespace caisson::client
