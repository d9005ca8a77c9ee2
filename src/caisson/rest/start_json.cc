#include "caisson/base/base64.h"
#include "caisson/base/signal_name.h"
#include "caisson/json/object_reader.h"
#include "caisson/plan/limits.h"
#include "caisson/rest/requests_json.h"

namespace caisson::rest {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongest = std::chrono::hours(24) * 366;
constexpr std::size_t kMostArguments = 100'000;
constexpr std::size_t kLongestPath = 4095;  // PATH_MAX without the last zero
constexpr std::size_t kMostInput = MiB(1).value;

void ReadInput(json::ObjectReader& body, service::CommandRequest& command) {
  using Input = service::CommandRequest::Input;
  if (const auto chosen = body.Choice("input", {"none", "open"})) {
    command.input = *chosen == 0 ? Input::kNone : Input::kOpen;
  }
  const auto text = body.AnyText("stdin", kMostInput);
  const auto encoded = body.AnyText("stdin_base64", kMostInput / 3 * 4 + 4);
  if (text && encoded) body.Refuse("stdin_base64", "must not be given together with stdin");
  if (text && text->size() > kMostInput) return body.Refuse("stdin", "must hold at most 1 MiB");
  if (text) command.stdin_bytes = *text;
  if (!encoded) return;
  auto bytes = DecodeBase64(*encoded);
  if (!bytes) return body.Refuse("stdin_base64", "must be base64 with padding");
  if (bytes->size() > kMostInput) return body.Refuse("stdin_base64", "must hold at most 1 MiB");
  command.stdin_bytes = std::move(*bytes);
}

}  // namespace

Result<StartRequest> ReadStart(std::string_view body) {
  StartRequest start;
  service::CommandRequest& command = start.command;
  CAISSON_CHECK_OK(json::ReadObject(body, [&](json::ObjectReader& reader) {
    command.argv = reader.Texts("argv", kMostArguments, plan::kLongestArgument);
    if (command.argv.empty() || command.argv.front().empty()) {
      reader.Refuse("argv", "must be an array of texts that begins with a program");
    }
    command.env = reader.Pairs("env", plan::kMostVariables, plan::kLongestArgument);
    command.cwd = reader.Text("cwd", kLongestPath);
    if (command.cwd && command.cwd->empty()) reader.Refuse("cwd", "must not be empty");
    if (const auto chosen = reader.Choice("user", {"agent", "root"})) {
      command.user = *chosen == 0 ? sandbox::User::kAgent : sandbox::User::kRoot;
    }
    command.timeout = reader.Milliseconds("timeout_ms", milliseconds(1), kLongest);
    ReadInput(reader, command);
    if (const auto report = reader.Switch("report_changes")) {
      command.report_changes = *report ? sandbox::ReportChanges::kYes : sandbox::ReportChanges::kNo;
    }
    if (auto policy = reader.Object("policy")) {
      command.policy = ReadPolicyFields(*policy);
      (void)policy->Finish();
    }
    if (reader.Switch("background").value_or(false)) start.run = Run::kInBackground;
  }));
  return start;
}

Result<int> ReadSignal(std::string_view body) {
  std::optional<int> signal;
  CAISSON_CHECK_OK(json::ReadObject(body, [&](json::ObjectReader& reader) {
    const auto name = reader.Text("signal", 32);
    if (name) signal = ParseSignal(*name);
    if (!signal) reader.Refuse("signal", "must be the name of a signal, for example \"SIGTERM\"");
  }));
  return *signal;
}

}  // namespace caisson::rest
