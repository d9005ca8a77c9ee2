#include "caisson/wire/result_json.h"

#include <boost/json.hpp>

#include "caisson/base/base64.h"
#include "caisson/base/signal_name.h"
#include "caisson/base/utf8.h"
#include "caisson/wire/change_json.h"
#include "caisson/wire/json_text.h"

namespace caisson::wire {
namespace {

std::string_view TextOf(const sandbox::CapturedOutput& output) {
  const std::string_view kept = output.kept;
  return output.truncated ? kept.substr(0, WholeUtf8Length(kept)) : kept;
}

void AddOutcome(boost::json::object& object, const sandbox::Outcome& outcome) {
  object["outcome"] = std::string(sandbox::OutcomeName(outcome));
  object["exit_code"] = nullptr;
  object["signal"] = nullptr;
  if (const auto* exited = std::get_if<sandbox::Exited>(&outcome)) object["exit_code"] = exited->code;
  if (const auto* signaled = std::get_if<sandbox::Signaled>(&outcome)) object["signal"] = SignalName(signaled->signal);
}

void AddOutput(boost::json::object& object, const sandbox::CommandResult& result) {
  const bool is_text = IsUtf8(TextOf(result.out)) && IsUtf8(TextOf(result.err));
  object["stdout"] = is_text ? std::string(TextOf(result.out)) : Base64(result.out.kept);
  object["stderr"] = is_text ? std::string(TextOf(result.err)) : Base64(result.err.kept);
  object["stdout_bytes"] = result.out.total_bytes;
  object["stderr_bytes"] = result.err.total_bytes;
  boost::json::array truncated;
  if (result.out.truncated) truncated.emplace_back("stdout");
  if (result.err.truncated) truncated.emplace_back("stderr");
  object["truncated"] = std::move(truncated);
  object["encoding"] = is_text ? "utf-8" : "base64";
}

boost::json::value DecisionOf(const sandbox::CommandResult& result) {
  if (!result.decision) return nullptr;
  boost::json::object object{{"effect", result.decision->effect},
                             {"rule", result.decision->rule},
                             {"source", result.decision->source},
                             {"reason", nullptr},
                             {"approval", nullptr}};
  if (!result.decision->reason.empty()) object["reason"] = result.decision->reason;
  if (const auto* asked = std::get_if<sandbox::NeedsApproval>(&result.outcome)) object["approval"] = asked->id;
  return object;
}

boost::json::array HintArray(const std::vector<hint::Hint>& hints) {
  boost::json::array array;
  for (const hint::Hint& hint : hints) {
    array.push_back({{"code", hint.code}, {"message", hint.message}, {"suggestion", hint.suggestion}});
  }
  return array;
}

}  // namespace

boost::json::object ResultObject(const SandboxId& sandbox, std::uint64_t step, const sandbox::CommandResult& result,
                                 const std::vector<hint::Hint>& hints) {
  boost::json::object object;
  object["sandbox"] = sandbox.text();
  object["step"] = step;
  object["tool"] = "run_command";
  AddOutcome(object, result.outcome);
  AddOutput(object, result);
  object["data"] = nullptr;
  object["duration_ms"] = RoundedMilliseconds(result.duration.count());
  object["cpu_ms"] = RoundedMilliseconds(result.cpu.count());
  object["memory_peak_bytes"] = nullptr;
  if (result.memory_peak_bytes) object["memory_peak_bytes"] = *result.memory_peak_bytes;
  AddChanges(result.files_changed, object);
  object["checkpoint"] = nullptr;
  object["decision"] = DecisionOf(result);
  object["hints"] = HintArray(hints);
  object["budget"] = nullptr;
  return object;
}

std::string ResultJson(const SandboxId& sandbox, const sandbox::CommandResult& result,
                       const std::vector<hint::Hint>& hints) {
  return JsonLine(ResultObject(sandbox, 1, result, hints));
}

}  // namespace caisson::wire
