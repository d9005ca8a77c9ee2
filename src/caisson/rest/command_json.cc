#include <boost/json.hpp>

#include "caisson/base/signal_name.h"
#include "caisson/base/time_text.h"
#include "caisson/base/utf8.h"
#include "caisson/rest/infos_json.h"
#include "caisson/wire/change_json.h"
#include "caisson/wire/file_json.h"
#include "caisson/wire/result_json.h"
#include "caisson/wire/tool_json.h"

namespace caisson::rest {
namespace {

boost::json::value TextOrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::value(text);
}

}  // namespace

boost::json::object CommandObject(const service::CommandInfo& info) {
  boost::json::object object;
  object["id"] = info.id;
  object["sandbox"] = info.sandbox.text();
  object["step"] = info.step;
  object["state"] = info.state == service::CommandState::kRunning ? "running" : "ended";
  boost::json::array argv;
  for (const std::string& argument : info.argv) argv.emplace_back(argument);
  object["argv"] = std::move(argv);
  object["cwd"] = info.cwd;
  object["user"] = info.user == sandbox::User::kAgent ? "agent" : "root";
  object["timeout_ms"] = info.timeout.count();
  object["started_at"] = TimeText(info.started_at);
  object["ended_at"] = nullptr;
  if (info.ended_at) object["ended_at"] = TimeText(*info.ended_at);
  object["stdout_bytes"] = info.stdout_bytes;
  object["stderr_bytes"] = info.stderr_bytes;
  object["outcome"] = nullptr;
  if (info.outcome) object["outcome"] = *info.outcome;
  object["exit_code"] = nullptr;
  if (info.exit_code) object["exit_code"] = *info.exit_code;
  object["signal"] = nullptr;
  if (info.signal) object["signal"] = SignalName(*info.signal);
  return object;
}

boost::json::object StepObject(const service::StepResult& step) {
  boost::json::object object = wire::ResultObject(step.sandbox, step.step, step.result, step.hints);
  object["tool"] = step.tool;
  if (step.data) object["data"] = wire::DataObject(*step.data);
  return object;
}

boost::json::object ToolStepObject(const service::StepResult& step) {
  boost::json::object object = StepObject(step);
  object["data"] = boost::json::object{{"command_id", step.command_id}};
  return object;
}

boost::json::object EventObject(const service::Event& event) {
  boost::json::object object;
  object["number"] = event.number;
  object["time"] = TimeText(event.time);
  object["type"] = event.type;
  object["sandbox"] = TextOrNull(event.sandbox);
  object["command"] = TextOrNull(event.command);
  object["caller"] = TextOrNull(event.caller);
  object["detail"] = TextOrNull(event.detail);
  return object;
}

boost::json::object FolderObject(const std::vector<sandbox::FileEntry>& entries) {
  boost::json::array items;
  for (const sandbox::FileEntry& entry : entries) items.push_back(wire::EntryObject(entry));
  return {{"items", std::move(items)}};
}

boost::json::object ChangesObject(const plan::ChangeList& list) {
  return {{"items", wire::ChangeArray(list)}, {"truncated", list.truncated}};
}

}  // namespace caisson::rest
