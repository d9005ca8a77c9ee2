#include "caisson/launcher/succession.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "caisson/os/socket.h"

namespace caisson::launcher {
namespace {

using plan::LaunchRequest;
using plan::Verb;

// What can be asked without a running sandbox: the books that the launcher keeps.
class SuccessionTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "caisson_succession.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    ASSERT_EQ(mkdir((path_ + "/sandboxes").c_str(), 0700), 0);
    const os::Fd data(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Nothing here asks it for anything.
    auto storage = StorageLink::Start(data, {}, plan::Expect::kEngines);
    ASSERT_TRUE(storage);
    storage_.emplace(*std::move(storage));
    succession_.emplace(sandboxes_, *storage_);
  }
  void TearDown() override {
    storage_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void Add(std::uint32_t slot, const std::string& id) {
    const auto none = [] { return os::Cgroup::FromDirectories(os::CgroupMode::kUnified, {}); };
    sandboxes_.emplace(slot, RunningSandbox{.launched = {.slot = {.block = slot,
                                                                  .user_namespace = {},
                                                                  .network_namespace = {},
                                                                  .cgroup_namespace = {},
                                                                  .sandbox = none(),
                                                                  .guest = none(),
                                                                  .first_leaf = none()},
                                                         .guest = {}},
                                            .id = id,
                                            .door = {},
                                            .parked = {}});
  }
  std::optional<Answer> Ask(const LaunchRequest& request, std::vector<os::Fd> fds = {}) {
    return succession_->Serve(request, fds);
  }
  void Park(std::uint32_t slot, std::uint32_t leaf, std::size_t fds, std::uint64_t command = 1) {
    LaunchRequest request{.verb = Verb::kPark, .slot = slot, .leaf = leaf};
    request.parked.command = command;
    std::vector<os::Fd> open_fds;
    for (std::size_t i = 0; i < fds; ++i) open_fds.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_FALSE(Ask(request, std::move(open_fds))) << "it has no reply";
  }

  std::string path_;
  RunningSandboxes sandboxes_;
  std::optional<StorageLink> storage_;
  std::optional<Succession> succession_;
};

void ExpectFailure(const std::optional<Answer>& answer, plan::Step step, int error) {
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->reply.failed_step, step);
  EXPECT_EQ(answer->reply.error, error);
  EXPECT_TRUE(answer->fds.empty());
}

TEST_F(SuccessionTest, NamesEverySandboxOnce) {
  Add(9, "sb_c");
  Add(1, "sb_a");
  Add(4, "sb_b");
  std::vector<std::string> ids;
  std::uint32_t slot = 0;
  while (true) {
    const auto answer = Ask({.verb = Verb::kNextSandbox, .slot = slot});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->reply.failed_step, plan::Step::kNone);
    if (answer->reply.id[0] == '\0') break;
    ids.emplace_back(answer->reply.id);
    EXPECT_GT(answer->reply.slot, slot);
    slot = answer->reply.slot;
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"sb_a", "sb_b", "sb_c"}));
  EXPECT_EQ(slot, 9U);
}

TEST_F(SuccessionTest, NamesNoneWhereThereIsNone) {
  const auto answer = Ask({.verb = Verb::kNextSandbox});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->reply.failed_step, plan::Step::kNone);
  EXPECT_EQ(answer->reply.id[0], '\0');
}

TEST_F(SuccessionTest, ParksWithTheDescriptorsOfACommand) {
  Add(1, "sb_a");
  for (const std::size_t fds : {0U, 1U, 2U, 7U, 32U}) Park(1, 7, fds);
  EXPECT_TRUE(sandboxes_.at(1).parked.empty());
  Park(1, 7, 3);
  Park(1, 8, 6);
  ASSERT_EQ(sandboxes_.at(1).parked.size(), 2U);
  EXPECT_EQ(sandboxes_.at(1).parked.at(7).fds.size(), 3U);
  EXPECT_EQ(sandboxes_.at(1).parked.at(8).fds.size(), 6U);
  Park(2, 7, 3);
  EXPECT_EQ(sandboxes_.size(), 1U) << "a sandbox there is none";
}

TEST_F(SuccessionTest, ParksInPlaceOfBefore) {
  Add(1, "sb_a");
  Park(1, 7, 4, 1);
  Park(1, 7, 3, 2);
  ASSERT_EQ(sandboxes_.at(1).parked.size(), 1U);
  EXPECT_EQ(sandboxes_.at(1).parked.at(7).fds.size(), 3U);
  EXPECT_EQ(sandboxes_.at(1).parked.at(7).command.command, 2U);
  Park(1, 7, 2, 3);
  EXPECT_EQ(sandboxes_.at(1).parked.at(7).command.command, 2U) << "what is refused changes nothing";
}

TEST_F(SuccessionTest, UnparksThatOneOnly) {
  Add(1, "sb_a");
  Add(2, "sb_b");
  Park(1, 7, 3);
  Park(1, 8, 3);
  Park(2, 7, 3);
  EXPECT_FALSE(Ask({.verb = Verb::kUnpark, .slot = 1, .leaf = 7}));
  EXPECT_FALSE(Ask({.verb = Verb::kUnpark, .slot = 1, .leaf = 99}));
  EXPECT_FALSE(Ask({.verb = Verb::kUnpark, .slot = 99, .leaf = 7}));
  EXPECT_EQ(sandboxes_.at(1).parked.size(), 1U);
  EXPECT_TRUE(sandboxes_.at(1).parked.contains(8));
  EXPECT_EQ(sandboxes_.at(2).parked.size(), 1U);
}

TEST_F(SuccessionTest, WithoutTheirEngineOnlyLeavesOfParkedCommandsServe) {
  Add(1, "sb_a");
  Add(2, "sb_b");
  sandboxes_.at(1).leaves = {1, 7, 9};
  sandboxes_.at(1).retired_leaves = {9};
  Park(1, 7, 3);
  succession_->RetireLeaves();
  EXPECT_EQ(sandboxes_.at(1).retired_leaves, (std::set<std::uint32_t>{1, 9}));
  EXPECT_EQ(sandboxes_.at(2).retired_leaves, (std::set<std::uint32_t>{1}));
}

TEST_F(SuccessionTest, RefusesWhatThereIsNot) {
  ExpectFailure(Ask({.verb = Verb::kFreeze, .slot = 5}), plan::Step::kCgroup, ENOENT);
  ExpectFailure(Ask({.verb = Verb::kThaw, .slot = 5}), plan::Step::kCgroup, ENOENT);
  ExpectFailure(Ask({.verb = Verb::kAdopt, .slot = 5}), plan::Step::kRequest, ENOENT);
  ExpectFailure(Ask({.verb = Verb::kNextParked, .slot = 5}), plan::Step::kLeaf, ENOENT);
  Add(5, "sb_a");
  ExpectFailure(Ask({.verb = Verb::kAdopt, .slot = 5}), plan::Step::kRequest, EINVAL);
  const auto none = Ask({.verb = Verb::kNextParked, .slot = 5});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->reply.failed_step, plan::Step::kNone);
  EXPECT_EQ(none->reply.leaf, 0U);
  for (const Verb verb : {Verb::kCreate, Verb::kRotateLeaf, Verb::kDestroy, Verb::kSeal, Verb::kExamineLeaf}) {
    ExpectFailure(Ask({.verb = verb, .slot = 5}), plan::Step::kRequest, EBADMSG);
  }
}

TEST(Admit, SendsTheControlSocketToTheGuest) {
  auto door = os::SocketPair(os::SocketKind::kPacket);
  ASSERT_TRUE(door);
  const os::Fd control(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(Admit(door->first, control));
  const auto message = os::ReceivePacket(door->second.get(), 10, Deadline::In(std::chrono::minutes(1)));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->fds.size(), 1U);
  door->second.Reset();
  EXPECT_FALSE(Admit(door->first, control)) << "the guest has ended";
}

TEST(Failed, HasAlwaysAnErrorAndAnEnd) {
  EXPECT_EQ(Failed(plan::Step::kLeaf, 0).reply.error, EIO);
  const Answer answer = Failed(plan::Step::kLeaf, ENOENT, std::string(5000, 'x'));
  EXPECT_EQ(answer.reply.error, ENOENT);
  EXPECT_EQ(std::strlen(answer.reply.message), sizeof answer.reply.message - 1);
}

}  // namespace
}  // namespace caisson::launcher
