#include "caisson/launcher/launch_request.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace caisson::launcher {
namespace {

using plan::LaunchRequest;
using plan::Verb;

std::string BytesOf(const LaunchRequest& request) { return {reinterpret_cast<const char*>(&request), sizeof request}; }

TEST(ReadLaunchRequest, ReadsEveryVerb) {
  for (const Verb verb : {Verb::kCreate, Verb::kRotateLeaf, Verb::kDestroy, Verb::kSeal, Verb::kExamineLeaf,
                          Verb::kFreeze, Verb::kThaw, Verb::kPark, Verb::kUnpark, Verb::kNextSandbox, Verb::kAdopt,
                          Verb::kNextParked, Verb::kFindKept, Verb::kDiscard}) {
    LaunchRequest request{.verb = verb, .number = 9, .slot = 7, .leaf = 3};
    request.parked = {.command = 5, .decided = 1, .start_ns = -2, .deadline_ns = 8, .stands_still = 1, .cpu_us = 4};
    std::strcpy(request.parked.id, "cm_a");
    const auto read = ReadLaunchRequest(BytesOf(request));
    ASSERT_TRUE(read) << static_cast<int>(verb);
    EXPECT_EQ(read->verb, verb);
    EXPECT_EQ(read->number, 9U);
    EXPECT_EQ(read->slot, 7U);
    EXPECT_EQ(read->leaf, 3U);
    EXPECT_STREQ(read->parked.id, "cm_a");
    EXPECT_EQ(read->parked.command, 5U);
    EXPECT_EQ(read->parked.decided, 1U);
    EXPECT_EQ(read->parked.start_ns, -2);
    EXPECT_EQ(read->parked.deadline_ns, 8);
    EXPECT_EQ(read->parked.stands_still, 1U);
    EXPECT_EQ(read->parked.cpu_us, 4U);
  }
}

TEST(ReadLaunchRequest, RefusesWhatItDoesNotKnow) {
  for (const std::uint32_t verb : {static_cast<std::uint32_t>(Verb::kDiscard) + 1, 99U, ~0U}) {
    EXPECT_EQ(ReadLaunchRequest(BytesOf({.verb = static_cast<Verb>(verb)})).error(), EBADMSG) << verb;
  }
  EXPECT_EQ(ReadLaunchRequest(BytesOf({.version = plan::kLaunchVersion + 1})).error(), EPROTO);
  EXPECT_EQ(ReadLaunchRequest(BytesOf({.version = 0})).error(), EPROTO);
  const std::string good = BytesOf({});
  EXPECT_TRUE(ReadLaunchRequest(good));
  EXPECT_EQ(ReadLaunchRequest("").error(), EBADMSG);
  EXPECT_EQ(ReadLaunchRequest(good.substr(1)).error(), EBADMSG);
  EXPECT_EQ(ReadLaunchRequest(good + good).error(), EBADMSG);
}

TEST(ReadLaunchRequest, EndsTheNameOfAParkedCommand) {
  LaunchRequest request{.verb = Verb::kPark};
  std::memset(request.parked.id, 'x', sizeof request.parked.id);
  const auto read = ReadLaunchRequest(BytesOf(request));
  ASSERT_TRUE(read);
  EXPECT_EQ(std::string(read->parked.id), std::string(sizeof request.parked.id - 1, 'x'));
}

plan::LaunchPlan SomePlan() {
  plan::LaunchPlan plan{};
  plan.pids = 1;
  plan.memory_bytes = 1;
  plan.disk_bytes = 1;
  plan.milli_cpus = 1;
  std::strcpy(plan.id, "sb_abcdefghijklmnopqrstuvwxyz");
  return plan;
}

TEST(IsWellFormed, TakesWhatIsInRange) {
  EXPECT_TRUE(IsWellFormed(SomePlan()));
  plan::LaunchPlan plan = SomePlan();
  plan.image = plan::Image::kDirectory;
  plan.storage = plan::Storage::kBtrfs;
  plan.workspace = plan::WorkspaceMode::kReadWrite;
  EXPECT_TRUE(IsWellFormed(plan));
  plan = SomePlan();
  plan.files = plan::Files::kKept;
  plan.workspace = plan::WorkspaceMode::kCopy;
  EXPECT_TRUE(IsWellFormed(plan));
  EXPECT_TRUE(NamesSandbox(plan));
}

TEST(IsWellFormed, RefusesEveryOtherValue) {
  const auto with = [](auto change) {
    plan::LaunchPlan plan = SomePlan();
    change(plan);
    return IsWellFormed(plan);
  };
  EXPECT_FALSE(with([](auto& plan) { plan.image = static_cast<plan::Image>(2); }));
  EXPECT_FALSE(with([](auto& plan) { plan.storage = static_cast<plan::Storage>(3); }));
  EXPECT_FALSE(with([](auto& plan) { plan.workspace = static_cast<plan::WorkspaceMode>(4); }));
  EXPECT_FALSE(with([](auto& plan) { plan.files = static_cast<plan::Files>(2); }));
  EXPECT_FALSE(with([](auto& plan) {
    plan.files = plan::Files::kKept;
    plan.image = plan::Image::kDirectory;
  })) << "what was kept has the image it had";
  for (const auto mode : {plan::WorkspaceMode::kReadOnly, plan::WorkspaceMode::kReadWrite}) {
    EXPECT_FALSE(with([&](auto& plan) {
      plan.files = plan::Files::kKept;
      plan.workspace = mode;
    }));
  }
  EXPECT_FALSE(with([](auto& plan) { plan.pids = 0; }));
  EXPECT_FALSE(with([](auto& plan) { plan.memory_bytes = 0; }));
  EXPECT_FALSE(with([](auto& plan) { plan.disk_bytes = 0; }));
  EXPECT_FALSE(with([](auto& plan) { plan.milli_cpus = 0; }));
  for (const char* id : {"", "..", "a/b", "A", "a b", "sb_1"}) {
    EXPECT_FALSE(with([&](auto& plan) { std::strcpy(plan.id, id); })) << id;
  }
  EXPECT_FALSE(with([](auto& plan) { std::memset(plan.id, 'a', sizeof plan.id); })) << "it does not end";
}

// An engine without rights names no folder: with kEngines they are left at the door.
TEST(DescriptorsOf, CountsFoldersOfACallerOnly) {
  for (const auto image : {plan::Image::kHost, plan::Image::kDirectory}) {
    for (const auto mode : {plan::WorkspaceMode::kNone, plan::WorkspaceMode::kCopy, plan::WorkspaceMode::kReadWrite}) {
      plan::LaunchPlan plan = SomePlan();
      plan.image = image;
      plan.workspace = mode;
      const std::size_t folders =
          (image == plan::Image::kDirectory ? 1U : 0U) + (mode == plan::WorkspaceMode::kNone ? 0U : 1U);
      EXPECT_EQ(DescriptorsOf(plan, plan::Expect::kOneSandbox), 2 + folders);
      EXPECT_EQ(DescriptorsOf(plan, plan::Expect::kManySandboxes), 2 + folders);
      EXPECT_EQ(DescriptorsOf(plan, plan::Expect::kEngines), 2U);
    }
  }
}

}  // namespace
}  // namespace caisson::launcher
