#include <atomic>
#include <thread>

#include "caisson/state/data_folder.h"

namespace caisson::state {
namespace {

class DatabasePolicies : public testing::Test {
 protected:
  void SetUp() override {
    Reopen();
    ASSERT_NE(database_, nullptr);
    ASSERT_TRUE(database_->InsertSandbox({.id = id_, .state = "running"}, {}, SomeEvent(), Policy("minimal")));
  }
  void Reopen() {
    database_.reset();
    database_ = folder_.Open();
  }
  static PolicyRecord Policy(const std::string& name) {
    return {.name = {.name = name, .digest = "digest of " + name}, .format = "toml", .text = std::string("a\0\xff", 3)};
  }
  bool Take(const std::vector<UseClaim>& claims) {
    const auto taken = database_->TakeRuleUses(id_, "d", claims);
    if (!taken) ADD_FAILURE() << Words(taken.error());
    return taken && *taken;
  }
  std::uint64_t Used(const std::string& rule, const std::string& digest = "d") {
    return database_->RuleUses(id_, digest, rule).value_or(999);
  }

  const SandboxId id_ = SandboxId::Random();
  DataFolder folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabasePolicies, ComeBackAsTheyWere) {
  Reopen();
  const auto read = database_->GetPolicy(id_);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->name.name, "minimal");
  EXPECT_EQ((*read)->name.digest, "digest of minimal");
  EXPECT_EQ((*read)->format, "toml");
  EXPECT_EQ((*read)->text, std::string("a\0\xff", 3));
  const auto sandbox = database_->GetSandbox(id_);
  ASSERT_TRUE(sandbox && sandbox->policy);
  EXPECT_EQ(sandbox->policy->name, "minimal");
  EXPECT_EQ(sandbox->policy->digest, "digest of minimal");
}

TEST_F(DatabasePolicies, AreReplacedWithAnEvent) {
  const auto event = database_->SetPolicy(id_, Policy("open"), SomeEvent("sandbox.policy_changed"));
  ASSERT_TRUE(event) << Words(event.error());
  EXPECT_EQ((*database_->GetPolicy(id_))->name.name, "open");
  EXPECT_EQ(database_->EventsAfter(*event - 1, 10)->front().type, "sandbox.policy_changed");
}

TEST_F(DatabasePolicies, OfNoSandboxAreRefusedAndLeaveNoEvent) {
  const std::uint64_t newest = *database_->NewestEvent();
  ExpectCode(database_->SetPolicy(SandboxId::Random(), Policy("open"), SomeEvent()), Code::kNotFound);
  EXPECT_EQ(*database_->NewestEvent(), newest);
  EXPECT_FALSE(database_->GetPolicy(SandboxId::Random())->has_value());
}

TEST_F(DatabasePolicies, OfAnUnknownFormatAreRefused) {
  PolicyRecord record = Policy("x");
  record.format = "yaml";
  ExpectCode(database_->SetPolicy(id_, record, SomeEvent()), Code::kInvalidArgument);
  EXPECT_EQ((*database_->GetPolicy(id_))->name.name, "minimal");
}

TEST_F(DatabasePolicies, AreGivenToThoseThatHaveNone) {
  const SandboxId old = SandboxId::Random();
  ASSERT_TRUE(database_->InsertSandbox({.id = old}, {}, SomeEvent()));
  EXPECT_FALSE(database_->GetSandbox(old)->policy);
  EXPECT_EQ(*database_->GivePolicyToAllWithout(Policy("standard")), 1U);
  EXPECT_EQ((*database_->GetPolicy(old))->name.name, "standard");
  EXPECT_EQ((*database_->GetPolicy(id_))->name.name, "minimal");
  EXPECT_EQ(*database_->GivePolicyToAllWithout(Policy("standard")), 0U);
}

TEST_F(DatabasePolicies, UsesAreCountedUpToTheMost) {
  EXPECT_EQ(Used("r"), 0U);
  EXPECT_TRUE(Take({{"r", 2}}));
  EXPECT_TRUE(Take({{"r", 2}}));
  EXPECT_FALSE(Take({{"r", 2}}));
  EXPECT_EQ(Used("r"), 2U);
  EXPECT_FALSE(Take({{"never", 0}}));
}

TEST_F(DatabasePolicies, UsesOfSeveralRulesAreTakenTogetherOrNotAtAll) {
  EXPECT_TRUE(Take({{"once", 1}}));
  EXPECT_FALSE(Take({{"other", 5}, {"once", 1}}));
  EXPECT_EQ(Used("other"), 0U);
  // One call that rests on a rule twice.
  EXPECT_FALSE(Take({{"twice", 1}, {"twice", 1}}));
  EXPECT_EQ(Used("twice"), 0U);
  EXPECT_FALSE(Take({{"twice", 1, 2}}));
  EXPECT_EQ(Used("twice"), 0U);
  EXPECT_TRUE(Take({{"twice", 3, 2}}));
  EXPECT_FALSE(Take({{"twice", 3, 2}}));
  EXPECT_EQ(Used("twice"), 2U);
}

TEST_F(DatabasePolicies, UsesAreThoseOfOneSandboxAndOnePolicy) {
  EXPECT_TRUE(Take({{"r", 1}}));
  EXPECT_EQ(Used("r", "another digest"), 0U);
  EXPECT_EQ(*database_->RuleUses(SandboxId::Random(), "d", "r"), 0U);
  ASSERT_TRUE(database_->SetPolicy(id_, Policy("open"), SomeEvent()));
  EXPECT_EQ(Used("r"), 1U) << "back under the older policy it is used up still";
}

TEST_F(DatabasePolicies, UsesAreThereAfterReopening) {
  EXPECT_TRUE(Take({{"r", 1}}));
  Reopen();
  EXPECT_EQ(Used("r"), 1U);
  EXPECT_FALSE(Take({{"r", 1}}));
}

TEST_F(DatabasePolicies, OfFiftyThreadsOneGetsTheOnlyUse) {
  std::atomic<int> got = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i) {
    threads.emplace_back([&] {
      const auto taken = database_->TakeRuleUses(id_, "d", {{"once", 1}});
      if (taken && *taken) ++got;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, 1);
  EXPECT_EQ(Used("once"), 1U);
}

TEST_F(DatabasePolicies, AreForgottenWithTheSandbox) {
  EXPECT_TRUE(Take({{"r", 1}}));
  ASSERT_TRUE(database_->ChangeState({.id = id_, .from = "running", .to = "deleted", .at = 5}, SomeEvent()));
  EXPECT_TRUE(*database_->GetPolicy(id_)) << "told of until it is forgotten";
  EXPECT_EQ(*database_->ForgetDeletedSandboxes({.ended_before = 10, .keep_newest = 0, .at_most = 10}), 1U);
  EXPECT_FALSE(*database_->GetPolicy(id_));
  EXPECT_EQ(Used("r"), 0U);
}

}  // namespace
}  // namespace caisson::state
