#include "policy/policy_test.h"

#include "caisson/policy/zone.h"

namespace caisson::support {
namespace {

// Looks through the host once for all tests of a program.
guard::HostPrograms& Programs() {
  static guard::HostPrograms programs;
  return programs;
}

}  // namespace

std::string PolicyTest::Answer::text() const {
  if (!result)
    return std::string(policy::EffectName(decision.effect)) + " by " + decision.rule + ": " + decision.reason;
  return "exit " + std::to_string(exit_code()) + "\n" + result->out.kept + result->err.kept;
}

void PolicyTest::Use(policy::Policy policy) {
  sandbox::SandboxSpec spec;
  spec.execution = guard::ExecutionFor(policy);
  Replace(std::move(spec));
  auto gate = guard::Gate::Make(std::move(policy), ledger_, Programs());
  ASSERT_TRUE(gate) << gate.error().message() << ": " << gate.error().cause();
  gate_ = *std::move(gate);
}

void PolicyTest::UsePreset(const std::string& name) {
  auto policy = policy::Policy::Preset(name);
  ASSERT_TRUE(policy) << policy.error().message();
  Use(*std::move(policy));
}

void PolicyTest::UseText(const std::string& text) {
  auto policy = policy::Policy::Read(text, document::Format::kToml, "policy.toml", policy::SystemZones());
  ASSERT_TRUE(policy) << policy.error().message();
  Use(*std::move(policy));
}

PolicyTest::Answer PolicyTest::Put(const policy::CommandCall& call, const sandbox::CommandSpec& spec) {
  auto admission = gate_->Admit(call, spec, box(), at_.value_or(guard::Now()));
  if (!admission) {
    ADD_FAILURE() << admission.error().message() << ": " << admission.error().cause();
    return {};
  }
  Answer answer{.decision = std::move(admission->decision), .result = std::nullopt};
  if (admission->spec) answer.result = RunIn(box(), *admission->spec);
  return answer;
}

PolicyTest::Answer PolicyTest::Ask(const std::string& text, const Variables& env, const std::string& cwd) {
  sandbox::CommandSpec spec;
  spec.timeout = std::chrono::minutes(2);
  return Put({.text = text, .argv = {}, .env = env, .cwd = cwd}, spec);
}

PolicyTest::Answer PolicyTest::AskOnTerminal(const std::string& text, const Variables& env, const std::string& cwd) {
  sandbox::CommandSpec spec;
  spec.terminal = sandbox::TerminalSize{};
  return Put({.text = text, .argv = {}, .env = env, .cwd = cwd}, spec);
}

sandbox::CommandResult PolicyTest::Operate(const std::string& script) { return RunIn(box(), Script(script)); }

bool PolicyTest::IsThere(const std::string& path) { return ExitCode(Operate("test -e '" + path + "'")) == 0; }

void PolicyTest::ExpectRuns(const std::string& text) {
  const Answer answer = Ask(text);
  EXPECT_TRUE(answer.is_allowed()) << text << "\n" << answer.text();
  EXPECT_EQ(answer.exit_code(), 0) << text << "\n" << answer.text();
}

void PolicyTest::ExpectRefused(const std::string& text) {
  const Answer answer = Ask(text);
  EXPECT_FALSE(answer.is_allowed()) << text << "\n" << answer.text();
}

}  // namespace caisson::support
