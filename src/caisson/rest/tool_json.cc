#include <cmath>

#include "caisson/json/object_reader.h"
#include "caisson/plan/limits.h"
#include "caisson/rest/requests_json.h"

namespace caisson::rest {
namespace {

constexpr double kLongestSeconds = 366.0 * 24 * 3600;
constexpr std::size_t kMostArguments = 100'000;
constexpr std::size_t kLongestPath = 4095;  // PATH_MAX without the last zero
constexpr std::size_t kMostInput = MiB(1).value;

void ReadProgram(json::ObjectReader& reader, service::ToolCall& call) {
  call.command = reader.Text("command", plan::kLongestArgument);
  call.argv = reader.Texts("argv", kMostArguments, plan::kLongestArgument);
  if (call.command && call.command->empty()) return reader.Refuse("command", "must not be empty");
  if (call.command && !call.argv.empty()) return reader.Refuse("argv", "must not be given together with command");
  if (call.command) return;
  if (call.argv.empty() || call.argv.front().empty()) {
    reader.Refuse("command", "must be given, or else \"argv\", an array of texts that begins with a program");
  }
}

}  // namespace

Result<ToolRequest> ReadToolCall(std::string_view body) {
  ToolRequest request;
  service::ToolCall& call = request.call;
  CAISSON_CHECK_OK(json::ReadObject(body, [&](json::ObjectReader& reader) {
    ReadProgram(reader, call);
    call.env = reader.Pairs("env", plan::kMostVariables, plan::kLongestArgument);
    call.cwd = reader.Text("cwd", kLongestPath);
    if (call.cwd && !call.cwd->starts_with('/')) reader.Refuse("cwd", "must begin with a slash");
    if (const auto seconds = reader.Number("timeout", 0.001, kLongestSeconds)) {
      call.timeout = std::chrono::milliseconds(std::llround(*seconds * 1000));
    }
    if (auto input = reader.AnyText("stdin", kMostInput)) {
      if (input->size() > kMostInput) reader.Refuse("stdin", "must hold at most 1 MiB");
      call.stdin_bytes = *std::move(input);
    }
    if (reader.Switch("background").value_or(false)) request.run = Run::kInBackground;
  }));
  return request;
}

}  // namespace caisson::rest
