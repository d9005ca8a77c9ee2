// What is said about a command that failed: hints made from its output, and the result as JSON.
// Input: flags, the kind of its outcome and a number, standard output, standard error and the tail of that.

#include <boost/json.hpp>
#include <string>

#include "caisson/base/utf8.h"
#include "caisson/hint/hint.h"
#include "caisson/wire/result_json.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace hint = caisson::hint;
namespace sandbox = caisson::sandbox;

enum Flag : std::uint8_t {
  kTerminal = 1,
  kMemory = 2,
  kProcesses = 4,
  kInput = 8,
  kDisk = 16,
  kNetwork = 32,
  kKept = 64
};

sandbox::Outcome MakeOutcome(std::uint8_t kind, int number) {
  switch (kind % 8) {
    case 0:
      return sandbox::Exited{number & 0xff};
    case 1:
      return sandbox::Signaled{number & 0x7f};
    case 2:
      return sandbox::TimedOut{};
    case 3:
      return sandbox::OutOfMemory{};
    case 4:
      return sandbox::Cancelled{};
    case 6:
      return sandbox::Denied{};
    case 7:
      return sandbox::NeedsApproval{"ap_x"};
    default:
      return sandbox::FailedToStart{sandbox::FailedToStart::Reason::kOther, number, "exec"};
  }
}

void SetOutput(sandbox::CapturedOutput& output, std::string_view kept, std::string_view tail, std::uint64_t lost) {
  output.kept = kept;
  output.tail = tail;
  output.total_bytes = kept.size() + tail.size() + lost;
  output.truncated = output.total_bytes > kept.size();
}

void RequireSafe(const std::string& text) {
  for (const char c : text) Require(static_cast<unsigned char>(c) >= ' ' && c != 0x7F, "a hint has no control byte");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const auto flags = input.Take<std::uint8_t>();
  sandbox::CommandSpec command;
  const auto kind = input.Take<std::uint8_t>();
  const auto number = input.Take<std::uint16_t>();
  command.argv = {std::string(input.TakeText())};
  if ((flags & kTerminal) != 0) command.terminal = sandbox::TerminalSize{};
  sandbox::CommandResult result;
  result.outcome = MakeOutcome(kind, number);
  SetOutput(result.out, input.TakeText(), "", 0);
  const std::string_view kept = input.TakeText();
  SetOutput(result.err, kept, input.TakeRest(), number);
  if (kind % 8 >= 6) {
    result.decision = sandbox::DecisionNote{.effect = "deny",
                                            .rule = command.argv.front(),
                                            .source = "policy.toml:1",
                                            .reason = result.out.kept,
                                            .alternative = result.err.kept};
  }
  result.killed_for_memory = (flags & kMemory) != 0;
  result.hit_process_limit = (flags & kProcesses) != 0;
  result.waits_for_input = (flags & kInput) != 0;
  result.disk_full = (flags & kDisk) != 0;
  const hint::Evidence evidence{
      .command = command,
      .result = result,
      .limits = {},
      .network = (flags & kNetwork) != 0 ? hint::Network::kReachable : hint::Network::kNone,
      .delivery = (flags & kKept) != 0 ? hint::Delivery::kKept : hint::Delivery::kPassedThrough};
  const std::vector<hint::Hint> hints = hint::FindHints(evidence);
  for (const hint::Hint& hint : hints) {
    RequireSafe(hint.message + hint.suggestion);
    Require(hint.message.size() < 2000 && hint.suggestion.size() < 2000, "a hint is short");
  }
  static const caisson::SandboxId id = caisson::SandboxId::Random();
  const std::string json = caisson::wire::ResultJson(id, result, hints);
  boost::json::error_code error;
  (void)boost::json::parse(json, error);
  Require(!error && caisson::IsUtf8(json), "a result is JSON, in UTF-8");
  return 0;
}
