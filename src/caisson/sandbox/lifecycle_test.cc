#include "caisson/sandbox/lifecycle.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace caisson::sandbox {
namespace {

using enum Lifecycle;

constexpr std::array kAll = {kPending, kRunning, kPausing, kPaused, kResuming, kStopping, kStopped, kFailed, kDeleted};

// A row for each state that is left, a column for each that is entered, both in the order of the enumeration:
//   pending, running, pausing, paused, resuming, stopping, stopped, failed, deleted
// What is being done succeeds, or fails back to where it began; everything that lives can be stopped, or loses its
// processes; everything can break or be deleted; nothing follows itself; what is deleted stays so.
constexpr std::array<const char*, 9> kMayFollow = {
    ".x.....xx",  // pending: it was made
    "..x..xxxx",  // running: pause, stop
    ".x.x.xxxx",  // pausing: it is paused; could not be, and runs; stop
    "....xxxxx",  // paused: resume, stop
    ".x.x.xxxx",  // resuming: it runs; could not, and stays paused or stopped; stop
    ".x.x..xxx",  // stopping: it is stopped; could not be, and runs or stays paused
    "....x..xx",  // stopped: resume
    "........x",  // failed: only delete
    ".........",  // deleted: nothing
};

TEST(Lifecycle, HasOneTableOfTransitions) {
  for (std::size_t from = 0; from < kAll.size(); ++from) {
    for (std::size_t to = 0; to < kAll.size(); ++to) {
      EXPECT_EQ(MayFollow(kAll.at(from), kAll.at(to)), kMayFollow.at(from)[to] == 'x')
          << LifecycleName(kAll.at(from)) << " -> " << LifecycleName(kAll.at(to));
    }
  }
}

TEST(Lifecycle, NamesComeBack) {
  std::set<std::string> names;
  for (const Lifecycle state : kAll) {
    const std::string name(LifecycleName(state));
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(ParseLifecycle(name), state) << name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"deleted", "failed", "paused", "pausing", "pending", "resuming", "running",
                                          "stopped", "stopping"}));
}

TEST(Lifecycle, OtherNamesAreNone) {
  for (const char* name : {"", "Running", "running ", "run", "unknown"}) EXPECT_FALSE(ParseLifecycle(name)) << name;
  EXPECT_EQ(LifecycleName(static_cast<Lifecycle>(200)), "unknown");
}

TEST(Lifecycle, WhatIsBeingDoneDoesNotLast) {
  const std::set<Lifecycle> intermediate = {kPending, kPausing, kResuming, kStopping};
  for (const Lifecycle state : kAll)
    EXPECT_EQ(IsIntermediate(state), intermediate.contains(state)) << LifecycleName(state);
}

}  // namespace
}  // namespace caisson::sandbox
