#include "caisson/guard/gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "caisson/policy/zone.h"

namespace caisson::guard {
namespace {

constexpr policy::Time kNow{std::chrono::hours(24 * 20'000)};

policy::Policy PolicyOf(const std::string& rules) {
  auto policy =
      policy::Policy::Read("version = 1\n" + rules, document::Format::kToml, "policy.toml", policy::SystemZones());
  if (!policy) ADD_FAILURE() << policy.error().message();
  return policy ? *std::move(policy) : *policy::Policy::Preset("open");
}

policy::CommandCall TextCall(const std::string& text) {
  policy::CommandCall call;
  call.text = text;
  return call;
}

policy::CommandCall ArgvCall(std::vector<std::string> argv) {
  policy::CommandCall call;
  call.argv = std::move(argv);
  return call;
}

os::ProgramIndex SmallIndex() {
  os::ProgramIndex index;
  for (const char* name : {"bash", "git", "ls"}) {
    const std::string path = std::string("/usr/bin/") + name;
    index.by_name.emplace(name,
                          os::ProgramIndex::Entry{.path = path, .real_path = path, .interpreter = {}, .argument = {}});
    index.programs.push_back(path);
  }
  index.split = {{"/", {"usr"}}, {"/usr", {"bin"}}, {"/usr/bin", {"bash", "git", "ls"}}};
  index.roots = {"/usr"};
  return index;
}

class BrokenLedger : public UseLedger {
 public:
  enum class Broken { kUsed, kTake, kTakesNothing };
  explicit BrokenLedger(Broken broken) : broken_(broken) {}
  Result<std::uint32_t> Used(const std::string& /*rule*/) override {
    if (broken_ == Broken::kUsed) return Fail(Error(Code::kUnavailable, "the ledger is gone"));
    return 0;
  }
  Result<bool> Take(const std::vector<Claim>& /*claims*/) override {
    ++asked;
    if (broken_ == Broken::kTake) return Fail(Error(Code::kUnavailable, "the ledger is gone"));
    return false;
  }
  int asked = 0;

 private:
  Broken broken_;
};

// An image that is never asked for: the tests tell what is in it.
class NoPrograms : public ProgramSource {
 public:
  Result<Index> Find(sandbox::Sandbox& /*sandbox*/) override { return Fail(Error(Code::kInternal, "asked")); }
};

class GateTest : public testing::Test {
 protected:
  std::unique_ptr<Gate> MakeGate(const std::string& rules, UseLedger& ledger) {
    auto gate = Gate::Make(PolicyOf(rules), ledger, programs_);
    if (!gate) ADD_FAILURE() << gate.error().message();
    return gate ? *std::move(gate) : nullptr;
  }
  std::unique_ptr<Gate> MakeGate(const std::string& rules) { return MakeGate(rules, ledger_); }
  Result<Gate::Admission> Admit(Gate& gate, const policy::CommandCall& call, policy::Time now = kNow,
                                const sandbox::CommandSpec& spec = {}) const {
    return gate.Admit(call, spec, outlook_, now);
  }

  MemoryLedger ledger_;
  NoPrograms programs_;
  ProgramSource::Index index_ = std::make_shared<const os::ProgramIndex>(SmallIndex());
  Gate::Outlook outlook_{.resolve = {}, .programs = [this]() -> Result<ProgramSource::Index> { return index_; }};
};

constexpr const char* kLs = "default = 'deny'\n[[rule]]\nname = 'ls'\neffect = 'allow'\ncommands = ['ls']\n";
constexpr const char* kOnce =
    "default = 'deny'\n[[rule]]\nname = 'once'\neffect = 'allow'\ncommands = ['ls']\nmax_uses = 1\n";

TEST_F(GateTest, IsNotMadeForWhatTheKernelCannotHold) {
  const auto gate =
      Gate::Make(PolicyOf("default = 'allow'\n[[rule]]\nname = 'no rm'\neffect = 'deny'\ncommands = ['rm']\n"), ledger_,
                 programs_);
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().code(), Code::kUnsupported);
  EXPECT_NE(gate.error().message().find("'no rm'"), std::string::npos) << gate.error().message();
}

TEST_F(GateTest, ConfinesWhatIsAllowed) {
  const auto gate = MakeGate(kLs);
  policy::CommandCall call = ArgvCall({"ls", "-l"});
  call.cwd = "/home/agent";
  call.env = {{"A", "1"}};
  sandbox::CommandSpec spec;
  spec.argv = {"other"};
  spec.cwd = "/tmp";
  spec.timeout = std::chrono::seconds(7);
  spec.user = sandbox::User::kRoot;
  const auto admission = Admit(*gate, call, kNow, spec);
  ASSERT_TRUE(admission) << admission.error().message();
  EXPECT_EQ(admission->decision.rule, "ls");
  ASSERT_TRUE(admission->spec);
  EXPECT_EQ(admission->spec->argv, (std::vector<std::string>{"ls", "-l"}));
  EXPECT_EQ(admission->spec->cwd, "/home/agent");
  EXPECT_EQ(admission->spec->timeout, std::chrono::seconds(7));
  EXPECT_EQ(admission->spec->user, sandbox::User::kRoot);
  const std::vector<std::pair<std::string, std::string>> env = {{"PATH", os::SearchPath()}, {"A", "1"}};
  EXPECT_EQ(admission->spec->env, env);
  ASSERT_NE(admission->spec->kernel_plan, nullptr);
  EXPECT_FALSE(admission->spec->kernel_plan->grants.empty());
}

TEST_F(GateTest, OfWhatIsRefusedNothingIsToBeStarted) {
  const auto gate = MakeGate(kLs);
  outlook_.programs = []() -> Result<ProgramSource::Index> { return Fail(Error(Code::kInternal, "asked in vain")); };
  const auto admission = Admit(*gate, ArgvCall({"rm"}));
  ASSERT_TRUE(admission) << admission.error().message();
  EXPECT_EQ(admission->decision.effect, policy::Effect::kDeny);
  EXPECT_FALSE(admission->spec);
  EXPECT_FALSE(Admit(*gate, ArgvCall({"ls"}))) << "of what is allowed it is asked";
}

TEST_F(GateTest, TextIsForTheImagesBashInPrivilegedMode) {
  const auto gate = MakeGate(kLs);
  const auto admission = Admit(*gate, TextCall("ls; ls"));
  ASSERT_TRUE(admission && admission->spec);
  EXPECT_EQ(admission->spec->argv, (std::vector<std::string>{"/usr/bin/bash", "-p", "-c", "ls; ls"}));
  os::ProgramIndex without = SmallIndex();
  without.by_name.erase("bash");
  index_ = std::make_shared<const os::ProgramIndex>(without);
  const auto refused = Admit(*gate, TextCall("ls"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnsupported);
  EXPECT_TRUE(Admit(*gate, ArgvCall({"ls"}))) << "words need no shell";
}

TEST_F(GateTest, APolicyThatAllowsEverythingAddsNothing) {
  const auto gate = MakeGate("default = 'allow'\n");
  outlook_.programs = []() -> Result<ProgramSource::Index> { return Fail(Error(Code::kInternal, "asked in vain")); };
  const auto admission = Admit(*gate, TextCall("rm -rf x"));
  ASSERT_TRUE(admission && admission->spec);
  EXPECT_EQ(admission->spec->argv, (std::vector<std::string>{"bash", "-p", "-c", "rm -rf x"}));
  EXPECT_TRUE(admission->spec->env.empty());
  EXPECT_EQ(admission->spec->kernel_plan, nullptr);
}

// The guest knows a plan by its address.
TEST_F(GateTest, CallsShareAPlanUntilSomethingChanges) {
  const auto gate = MakeGate(std::string(kLs) +
                             "[[rule]]\nname = 'git'\neffect = 'allow'\ncommands = ['git']\n"
                             "expires_at = 2030-01-01T00:00:00Z\n");
  const auto plan_at = [&](policy::Time now) {
    const auto admission = Admit(*gate, ArgvCall({"ls"}), now);
    return admission && admission->spec ? admission->spec->kernel_plan : nullptr;
  };
  const policy::Time end = std::chrono::sys_days(std::chrono::year(2030) / 1 / 1);
  const auto first = plan_at(kNow);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(plan_at(kNow + std::chrono::hours(1)), first);
  EXPECT_EQ(plan_at(end - std::chrono::milliseconds(1)), first);
  const auto later = plan_at(end);
  EXPECT_NE(later, first);
  EXPECT_NE(later->grants, first->grants) << "git is no longer in it";
  const auto before = plan_at(kNow);
  EXPECT_EQ(before->grants, first->grants) << "the clock was set back";
  index_ = std::make_shared<const os::ProgramIndex>(SmallIndex());
  EXPECT_NE(plan_at(kNow), before) << "another image";
}

TEST_F(GateTest, WhatIsUsedUpIsInThePlanOfItsCallAlone) {
  const auto gate =
      MakeGate(std::string(kLs) + "[[rule]]\nname = 'git'\neffect = 'allow'\ncommands = ['git']\nmax_uses = 2\n");
  const auto names_git = [](const Result<Gate::Admission>& admission) {
    const auto& grants = admission->spec->kernel_plan->grants;
    return std::any_of(grants.begin(), grants.end(), [](const plan::FileGrant& grant) {
      return grant.path == "/usr/bin/git" && (grant.rights & plan::kExecuteFile) != 0;
    });
  };
  EXPECT_FALSE(names_git(Admit(*gate, ArgvCall({"ls"}))));
  EXPECT_TRUE(names_git(Admit(*gate, ArgvCall({"git"}))));
  EXPECT_EQ(*ledger_.Used("git"), 1U);
  EXPECT_FALSE(names_git(Admit(*gate, ArgvCall({"ls"}))));
}

TEST_F(GateTest, SaysWhenACommandHasToEnd) {
  const auto gate = MakeGate(std::string(kLs) +
                             "[[rule]]\nname = 'git'\neffect = 'allow'\ncommands = ['git']\nexpires_at = "
                             "2030-01-01T00:00:00Z\non_end = 'stop'\n");
  const policy::Time end = std::chrono::sys_days{std::chrono::year{2030} / 1 / 1};
  EXPECT_FALSE(Admit(*gate, ArgvCall({"ls"}))->stop);
  const auto admission = Admit(*gate, ArgvCall({"git"}));
  ASSERT_TRUE(admission->stop);
  EXPECT_EQ(admission->stop->at, end);
  const sandbox::DecisionNote& note = admission->stop->note;
  EXPECT_EQ(note.effect + " " + note.rule + " " + note.source, "deny git policy.toml:7");
  EXPECT_EQ(note.reason, "the rule 'git' ended at 2030-01-01T00:00:00Z, and what rested on it was stopped");
  EXPECT_FALSE(Admit(*gate, ArgvCall({"git"}), end)->spec);

  const auto files =
      MakeGate(std::string(kLs) +
               "[[rule]]\nname = 'srv'\neffect = 'allow'\nactions = ['file.write']\npaths = ['/srv/**']\n"
               "expires_at = 2030-01-01T00:00:00Z\non_end = 'stop'\n");
  EXPECT_EQ(Admit(*files, ArgvCall({"ls"}))->stop->note.rule, "srv") << "what it may write it may write at once";
  EXPECT_FALSE(Admit(*files, ArgvCall({"ls"}), end)->stop);
}

TEST_F(GateTest, AFileIsDecidedByEverythingThatIsDoneToIt) {
  using policy::Action;
  const std::string rules =
      "default = 'ask'\n[[rule]]\nname = 'look'\neffect = 'allow'\nactions = ['file.read']\npaths = ['/srv/**']\n"
      "[[rule]]\nname = 'twice'\neffect = 'allow'\nactions = ['file.write']\npaths = ['/srv/**']\nmax_uses = 2\n"
      "[[rule]]\nname = 'keep'\neffect = 'deny'\nactions = ['file.delete']\npaths = ['/srv/kept']\n";
  const auto gate = MakeGate(rules);
  const auto admit = [&](const std::vector<Action>& actions, const char* path) {
    return gate->AdmitFile(actions, path, outlook_, kNow);
  };
  const auto read = admit({Action::kFileRead}, "/srv/a");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->decision.rule, "look");
  ASSERT_NE(read->kernel_plan, nullptr);
  const auto kept = admit({Action::kFileWrite, Action::kFileDelete}, "/srv/kept");
  EXPECT_EQ(kept->decision.effect, policy::Effect::kDeny);
  EXPECT_EQ(kept->decision.rule, "keep");
  EXPECT_EQ(kept->kernel_plan, nullptr);
  EXPECT_EQ(admit({Action::kFileWrite, Action::kFileDelete}, "/srv/a")->decision.effect, policy::Effect::kAsk);
  EXPECT_EQ(*ledger_.Used("twice"), 0U) << "what is refused uses nothing up";
  EXPECT_EQ(admit({Action::kFileRead, Action::kFileWrite}, "/srv/a")->decision.effect, policy::Effect::kAllow);
  EXPECT_EQ(*ledger_.Used("twice"), 1U);
  (void)admit({Action::kFileWrite}, "/srv/a");
  EXPECT_EQ(admit({Action::kFileWrite}, "/srv/a")->decision.effect, policy::Effect::kAsk);
}

TEST_F(GateTest, CountsEachUseOfACall) {
  const auto gate =
      MakeGate("default = 'deny'\n[[rule]]\nname = 'three'\neffect = 'allow'\ncommands = ['ls']\nmax_uses = 3\n");
  EXPECT_EQ(Admit(*gate, TextCall("ls; ls"))->decision.effect, policy::Effect::kAllow);
  EXPECT_EQ(*ledger_.Used("three"), 2U);
  EXPECT_EQ(Admit(*gate, TextCall("ls; ls"))->decision.effect, policy::Effect::kDeny);
  EXPECT_EQ(*ledger_.Used("three"), 2U) << "what is refused uses nothing";
  EXPECT_EQ(Admit(*gate, TextCall("ls"))->decision.effect, policy::Effect::kAllow);
  EXPECT_EQ(*ledger_.Used("three"), 3U);
}

TEST_F(GateTest, OfFiftyCallsAtOnceOneGetsTheOnlyUse) {
  const auto gate = MakeGate(kOnce);
  std::atomic<int> allowed = 0;
  std::atomic<int> denied = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i) {
    threads.emplace_back([&] {
      const auto admission = Admit(*gate, ArgvCall({"ls"}));
      if (!admission) return;
      ++(admission->spec ? allowed : denied);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 1);
  EXPECT_EQ(denied, 49);
  EXPECT_EQ(*ledger_.Used("once"), 1U);
}

TEST_F(GateTest, ErrorsOfTheLedgerAreNoDecision) {
  for (const auto broken : {BrokenLedger::Broken::kUsed, BrokenLedger::Broken::kTake}) {
    BrokenLedger ledger(broken);
    const auto gate = MakeGate(kOnce, ledger);
    const auto admission = Admit(*gate, ArgvCall({"ls"}));
    ASSERT_FALSE(admission);
    EXPECT_EQ(admission.error().message(), "the ledger is gone");
  }
}

// Otherwise the refusal, taken for used up, would be missing from a plan that later calls share.
TEST_F(GateTest, ErrorsOfTheLedgerLeaveNoRefusalOutOfThePlan) {
  const std::string rules =
      std::string(kLs) + "[[rule]]\nname = 'no git'\neffect = 'deny'\ncommands = ['git']\nmax_uses = 1\n";
  BrokenLedger ledger(BrokenLedger::Broken::kUsed);
  const auto gate = MakeGate(rules, ledger);
  for (int i = 0; i < 2; ++i) {
    const auto admission = Admit(*gate, ArgvCall({"ls"}));
    ASSERT_FALSE(admission) << i;
    EXPECT_EQ(admission.error().message(), "the ledger is gone");
  }
  EXPECT_TRUE(Admit(*MakeGate(rules), ArgvCall({"ls"})));
}

TEST_F(GateTest, ALedgerThatGivesNothingEndsTheWaiting) {
  BrokenLedger ledger(BrokenLedger::Broken::kTakesNothing);
  const auto gate = MakeGate(kOnce, ledger);
  const auto admission = Admit(*gate, ArgvCall({"ls"}));
  ASSERT_FALSE(admission);
  EXPECT_EQ(admission.error().code(), Code::kUnavailable);
  EXPECT_TRUE(admission.error().retryable());
  EXPECT_EQ(ledger.asked, 100);
}

TEST_F(GateTest, WhereAPathLeadsIsAskedOfTheSandbox) {
  const auto gate = MakeGate(kLs);
  std::vector<std::string> asked;
  outlook_.resolve = [&](const std::string& path) {
    asked.push_back(path);
    return std::optional<std::string>("/usr/bin/ls");
  };
  const auto admission = Admit(*gate, ArgvCall({"/opt/tool/ls"}));
  ASSERT_TRUE(admission);
  EXPECT_EQ(admission->decision.effect, policy::Effect::kAllow) << admission->decision.reason;
  ASSERT_FALSE(asked.empty());
  asked.resize(1);
  EXPECT_EQ(asked, std::vector<std::string>{"/opt/tool/ls"});
}

TEST(ExecutionForTest, OnlyWithNothingButNamedProgramsIsTheRestNoexec) {
  EXPECT_EQ(ExecutionFor(*policy::Policy::Preset("minimal")), plan::Execution::kProgramFolders);
  EXPECT_EQ(ExecutionFor(*policy::Policy::Preset("standard")), plan::Execution::kAnywhere);
  EXPECT_EQ(ExecutionFor(*policy::Policy::Preset("open")), plan::Execution::kAnywhere);
}

TEST(NoteOfTest, SaysWhatDecided) {
  policy::Decision decision;
  decision.effect = policy::Effect::kAsk;
  decision.rule = "push";
  decision.source = "policy.toml:3";
  decision.reason = "ask first";
  const sandbox::DecisionNote note = NoteOf(decision);
  EXPECT_EQ(note.effect, "ask");
  EXPECT_EQ(note.rule, "push");
  EXPECT_EQ(note.source, "policy.toml:3");
  EXPECT_EQ(note.reason, "ask first");
}

}  // namespace
}  // namespace caisson::guard
