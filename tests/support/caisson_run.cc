#include "support/caisson_run.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>

#include "caisson/base/base64.h"
#include "support/secret.h"

namespace caisson::support {
namespace {

std::string Text(const boost::json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

double Number(const boost::json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_number() ? value->to_number<double>() : -1;
}

Texts WithJson(const Texts& options) {
  Texts all = {"--json"};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

}  // namespace

std::string CaissonPath() {
  const char* path = std::getenv("CAISSON_BIN");
  return path == nullptr ? "" : path;
}

std::string ProgramFolder() {
  const std::string path = CaissonPath();
  return path.substr(0, path.rfind('/'));
}

ProgramSpec RunSpec(const Texts& options, const Texts& command) {
  ProgramSpec spec{.argv = {CaissonPath(), "run"}};
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  spec.argv.emplace_back("--");
  spec.argv.insert(spec.argv.end(), command.begin(), command.end());
  return spec;
}

Ended RunCommand(const Texts& options, const Texts& command) { return RunProgram(RunSpec(options, command)); }

Ended RunScript(const Texts& options, const std::string& script) { return RunCommand(options, {"sh", "-c", script}); }

StepResult RunJson(const Texts& options, const Texts& command) {
  return ParseStepResult(RunCommand(WithJson(options), command));
}

StepResult RunScriptJson(const Texts& options, const std::string& script) {
  return RunJson(options, {"sh", "-c", script});
}

StepResult ParseStepResult(const Ended& ended) {
  StepResult result;
  result.status = ended.status;
  result.stderr_text = ended.err;
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(ended.out, error);
  const bool one_line = !ended.out.empty() && ended.out.find('\n') == ended.out.size() - 1;
  if (error || !value.is_object() || !one_line) {
    ADD_FAILURE() << "not one line with one object: " << ended.out.substr(0, 1000) << ended.err.substr(0, 1000);
    return result;
  }
  result.whole = value.get_object();
  result.outcome = Text(result.whole, "outcome");
  if (result.whole["exit_code"].is_int64()) result.exit_code = static_cast<int>(result.whole["exit_code"].get_int64());
  result.signal = Text(result.whole, "signal");
  result.encoding = Text(result.whole, "encoding");
  result.out = Text(result.whole, "stdout");
  result.err = Text(result.whole, "stderr");
  if (result.encoding == "base64") {
    result.out = DecodeBase64(result.out).value_or("not base64");
    result.err = DecodeBase64(result.err).value_or("not base64");
  }
  LookForSecrets(result.out);
  LookForSecrets(result.err);
  result.out_bytes = static_cast<std::uint64_t>(Number(result.whole, "stdout_bytes"));
  result.err_bytes = static_cast<std::uint64_t>(Number(result.whole, "stderr_bytes"));
  result.duration_ms = Number(result.whole, "duration_ms");
  result.cpu_ms = Number(result.whole, "cpu_ms");
  return result;
}

}  // namespace caisson::support
