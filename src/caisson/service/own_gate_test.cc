#include "caisson/service/own_gate.h"

#include <atomic>
#include <thread>

#include "caisson/service/sandbox_policy.h"
#include "caisson/state/data_folder.h"

namespace caisson::service {
namespace {

class OwnGateTest : public testing::Test {
 protected:
  void SetUp() override {
    database_ = folder_.Open();
    ASSERT_NE(database_, nullptr);
    const auto checked = CheckPolicy(PolicyRequest{.preset = "minimal"});
    ASSERT_TRUE(checked) << checked.error().message();
    ASSERT_TRUE(database_->InsertSandbox({.id = id_}, {}, {}, checked->record));
  }

  const SandboxId id_ = SandboxId::Random();
  state::DataFolder folder_;
  std::unique_ptr<state::Database> database_;
};

TEST_F(OwnGateTest, FollowsWhatIsRecordedUntilItIsToldOfAnother) {
  OwnGate gate(*database_, nullptr, id_);
  ASSERT_TRUE(gate.Get());
  EXPECT_EQ((*gate.Get())->policy().name(), "minimal");
  EXPECT_EQ(*gate.Get(), *gate.Get()) << "one gate for all calls";
  ASSERT_TRUE(database_->SetPolicy(id_, CheckPolicy(PolicyRequest{.preset = "open"})->record, {}));
  EXPECT_EQ((*gate.Get())->policy().name(), "minimal");
  gate.Forget();
  EXPECT_EQ((*gate.Get())->policy().name(), "open");
}

TEST_F(OwnGateTest, WithoutAPolicyIsAnError) {
  OwnGate gate(*database_, nullptr, SandboxId::Random());
  const auto made = gate.Get();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::kInternal);
}

TEST_F(OwnGateTest, APolicyThatCannotBeReadIsAnErrorEachTime) {
  ASSERT_TRUE(database_->SetPolicy(id_, {.name = {"p.toml", "d"}, .format = "toml", .text = "version = 7"}, {}));
  OwnGate gate(*database_, nullptr, id_);
  EXPECT_FALSE(gate.Get());
  EXPECT_FALSE(gate.Get());
}

TEST_F(OwnGateTest, UsesAreThereForTheNextDaemon) {
  {
    RecordedUses uses(*database_, id_, "d");
    EXPECT_EQ(*uses.Used("r"), 0U);
    EXPECT_TRUE(*uses.Take({{"r", 1}}));
  }
  database_.reset();
  database_ = folder_.Open();
  RecordedUses uses(*database_, id_, "d");
  EXPECT_EQ(*uses.Used("r"), 1U);
  EXPECT_FALSE(*uses.Take({{"r", 1}}));
  RecordedUses of_another(*database_, id_, "another");
  EXPECT_TRUE(*of_another.Take({{"r", 1}}));
}

TEST_F(OwnGateTest, OfFiftyThreadsOneGetsTheOnlyUse) {
  RecordedUses uses(*database_, id_, "d");
  std::atomic<int> got = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i) {
    threads.emplace_back([&] {
      const auto taken = uses.Take({{"once", 1}});
      if (taken && *taken) ++got;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, 1);
}

}  // namespace
}  // namespace caisson::service
