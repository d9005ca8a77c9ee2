#include "caisson/client/commands.h"

#include <algorithm>
#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/client/reply_reader.h"
#include "caisson/client/target.h"

namespace caisson::client {
namespace {

constexpr const char* kJson = "application/json";

std::string CommandTarget(std::string_view sandbox, std::string_view command, std::string_view rest = {}) {
  return SandboxTarget(sandbox, "/commands/" + EncodeSegment(command) + std::string(rest));
}

Result<CommandView> ViewOf(const boost::json::value& value) {
  if (!value.is_object()) return Fail(NotUnderstood("a command is no object"));
  const boost::json::object& object = value.get_object();
  CommandView view;
  view.id = TextAt(object, "id");
  if (view.id.empty()) return Fail(NotUnderstood("a command has no id"));
  view.sandbox = TextAt(object, "sandbox");
  view.state = TextAt(object, "state");
  view.started_at = TextAt(object, "started_at");
  view.timeout = std::chrono::milliseconds(IntegerAt(object, "timeout_ms"));
  view.outcome = OptionalTextAt(object, "outcome");
  view.exit_code = OptionalIntegerAt(object, "exit_code");
  view.signal = OptionalTextAt(object, "signal");
  if (const boost::json::value* argv = object.if_contains("argv"); argv != nullptr && argv->is_array()) {
    for (const boost::json::value& word : argv->get_array()) {
      if (word.is_string()) view.argv.emplace_back(word.get_string());
    }
  }
  view.json = boost::json::serialize(value);
  return view;
}

Result<CommandView> AskForOne(Http& http, const Request& request) {
  CAISSON_TRY(const Reply reply, http.Ask(request));
  CAISSON_TRY(const boost::json::value value, ParseObject(reply.body));
  return ViewOf(value);
}

Error NotText(const std::string& what) {
  return Error(Code::kInvalidArgument, what + " is not UTF-8")
      .Because("a node takes text only")
      .Remedy("bring other bytes in on standard input or through a file");
}

}  // namespace

Result<ResultView> ReadResult(std::string_view text) {
  CAISSON_TRY(const boost::json::value value, ParseObject(text));
  const boost::json::object& object = value.get_object();
  ResultView view;
  view.outcome = TextAt(object, "outcome");
  if (view.outcome.empty()) return Fail(NotUnderstood("a result has no outcome"));
  view.exit_code = OptionalIntegerAt(object, "exit_code");
  view.signal = OptionalTextAt(object, "signal");
  if (const boost::json::value* decision = object.if_contains("decision");
      decision != nullptr && decision->is_object()) {
    const boost::json::object& said = decision->get_object();
    view.decision =
        DecisionView{TextAt(said, "effect"), TextAt(said, "rule"), TextAt(said, "source"), TextAt(said, "reason")};
  }
  if (const boost::json::value* hints = object.if_contains("hints"); hints != nullptr && hints->is_array()) {
    for (const boost::json::value& hint : hints->get_array()) {
      if (!hint.is_object()) continue;
      view.hints.push_back({TextAt(hint.get_object(), "code"), TextAt(hint.get_object(), "message"),
                            TextAt(hint.get_object(), "suggestion")});
    }
  }
  view.json = text;
  return view;
}

Result<std::string> StartBody(const StartRequest& request) {
  boost::json::object body;
  boost::json::array argv;
  for (const std::string& word : request.argv) {
    if (!IsUtf8(word)) return Fail(NotText("the argument " + Quoted(word)));
    argv.emplace_back(word);
  }
  body["argv"] = std::move(argv);
  boost::json::object env;
  for (const auto& [name, value] : request.env) {
    if (!IsUtf8(name) || !IsUtf8(value)) return Fail(NotText("the variable " + Quoted(name)));
    env[name] = value;
  }
  body["env"] = std::move(env);
  if (request.cwd) {
    if (!IsUtf8(*request.cwd)) return Fail(NotText("the folder " + Quoted(*request.cwd)));
    body["cwd"] = *request.cwd;
  }
  body["user"] = request.user;
  if (request.timeout) body["timeout_ms"] = request.timeout->count();
  body["input"] = request.input == Input::kOpen ? "open" : "none";
  if (request.policy) {
    CAISSON_TRY(body["policy"], ObjectOf(*request.policy));
  }
  body["background"] = true;
  return boost::json::serialize(body);
}

Result<CommandView> StartCommand(Http& http, std::string_view sandbox, const StartRequest& request) {
  CAISSON_TRY(const std::string body, StartBody(request));
  return AskForOne(
      http, {.method = "POST", .target = SandboxTarget(sandbox, "/commands"), .body = body, .content_type = kJson});
}

Result<std::vector<CommandView>> ListCommands(Http& http, std::string_view sandbox) {
  CAISSON_TRY(const Reply reply, http.Ask({.target = SandboxTarget(sandbox, "/commands")}));
  CAISSON_TRY(const boost::json::value list, ParseObject(reply.body));
  const boost::json::value* items = list.get_object().if_contains("items");
  if (items == nullptr || !items->is_array()) return Fail(NotUnderstood("a list has no items"));
  std::vector<CommandView> views;
  for (const boost::json::value& item : items->get_array()) {
    CAISSON_TRY(CommandView view, ViewOf(item));
    views.push_back(std::move(view));
  }
  return views;
}

Result<CommandView> GetCommand(Http& http, std::string_view sandbox, std::string_view command) {
  return AskForOne(http, {.target = CommandTarget(sandbox, command)});
}

Result<std::size_t> WriteInput(Http& http, std::string_view sandbox, std::string_view command, std::string_view bytes,
                               Close close) {
  CAISSON_TRY(
      const Reply reply,
      http.Ask({.method = "POST",
                .target = CommandTarget(sandbox, command, close == Close::kYes ? "/input?close=true" : "/input"),
                .body = bytes,
                .content_type = "application/octet-stream"}));
  CAISSON_TRY(const boost::json::value value, ParseObject(reply.body));
  const std::int64_t taken = IntegerAt(value.get_object(), "accepted_bytes");
  if (taken < 0 || static_cast<std::uint64_t>(taken) > bytes.size()) {
    return Fail(NotUnderstood("it took more bytes than it was given"));
  }
  return static_cast<std::size_t>(taken);
}

Status SignalCommand(Http& http, std::string_view sandbox, std::string_view command, std::string_view signal) {
  const std::string body = boost::json::serialize(boost::json::object{{"signal", std::string(signal)}});
  const Result<Reply> reply = http.Ask(
      {.method = "POST", .target = CommandTarget(sandbox, command, "/signal"), .body = body, .content_type = kJson});
  if (!reply) return Fail(reply.error());
  return {};
}

Status CancelCommand(Http& http, std::string_view sandbox, std::string_view command) {
  const Result<Reply> reply = http.Ask({.method = "DELETE", .target = CommandTarget(sandbox, command)});
  if (!reply) return Fail(reply.error());
  return {};
}

}  // namespace caisson::client
