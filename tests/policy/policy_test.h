#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/guard/gate.h"
#include "support/sandbox_test.h"

namespace caisson::support {

// A test of commands under a policy, as an agent's tool gives them, in a sandbox made for it.
class PolicyTest : public SandboxTest {
 protected:
  // A new sandbox under that preset, or under the policy that a TOML text says.
  void UsePreset(const std::string& name);
  void UseText(const std::string& text);

  using Variables = std::vector<std::pair<std::string, std::string>>;
  struct Answer {
    policy::Decision decision;
    std::optional<sandbox::CommandResult> result;  // of an allowed call
    bool is_allowed() const { return result.has_value(); }
    int exit_code() const { return result ? ExitCode(*result) : -1; }
    // Both streams, for messages.
    std::string text() const;
  };
  Answer Ask(const std::string& text, const Variables& env = {}, const std::string& cwd = plan::kAgentWorkspace);
  Answer AskOnTerminal(const std::string& text, const Variables& env = {},
                       const std::string& cwd = plan::kAgentWorkspace);
  // As the operator, whom no policy binds: to prepare what the agent finds, and to look at what it left.
  sandbox::CommandResult Operate(const std::string& script);
  bool IsThere(const std::string& path);

  void ExpectRuns(const std::string& text);
  void ExpectRefused(const std::string& text);

  // The moment that decisions are made at; absent: now.
  std::optional<policy::Time> at_;

 private:
  Answer Put(const policy::CommandCall& call, const sandbox::CommandSpec& spec);
  void Use(policy::Policy policy);

  guard::MemoryLedger ledger_;
  std::unique_ptr<guard::Gate> gate_;
};

}  // namespace caisson::support
