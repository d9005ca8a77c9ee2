#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "caisson/state/data_folder.h"

namespace caisson::state {
namespace {

// Adds commands to a new sandbox and reports each with one byte once it is committed, until it is killed.
[[noreturn]] void WriteForEver(const os::Fd& folder, int report) {
  const auto database = Database::Open(folder, {});
  if (!database) _exit(1);
  const SandboxRecord sandbox = SomeSandbox();
  if (!(*database)->InsertSandbox(sandbox, {}, SomeEvent("start"))) _exit(1);
  for (int i = 0;; ++i) {
    const std::string id = sandbox.id.text() + "_" + std::to_string(i);
    const bool done = (*database)->InsertCommand(SomeCommand(sandbox.id, id), "running") &&
                      (*database)->EndCommand({.id = id, .at = i, .result = std::string(500, 'r')}, SomeEvent("end"));
    if (!done || write(report, "x", 1) != 1) _exit(1);
  }
}

TEST(Durability, WhatWasCommittedSurvivesAKill) {
  const DataFolder folder;
  std::uint64_t events = 0;
  for (int round = 0; round < 50; ++round) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) WriteForEver(folder.fd(), ends[1]);
    close(ends[1]);
    std::uint64_t reported = 0;
    char byte = 0;
    // A different moment in each round, some of them after the log was emptied into the file.
    const std::uint64_t wanted = 1 + static_cast<std::uint64_t>(round) * 37 % 101;
    while (reported < wanted && read(ends[0], &byte, 1) == 1) ++reported;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &byte, 1) == 1) ++reported;
    close(ends[0]);
    ASSERT_GE(reported, wanted) << "the child failed in round " << round;

    const auto database = folder.Open();
    ASSERT_NE(database, nullptr) << "round " << round;
    const std::uint64_t newest = *database->NewestEvent();
    ASSERT_GE(newest, events + 1 + reported) << "round " << round;
    ASSERT_LE(newest, events + 1 + reported + 1) << "round " << round;
    const auto written = database->EventsAfter(events, kMaxPage);
    ASSERT_TRUE(written && written->size() == newest - events);
    // An end and its event are there together or not at all, and at most one command was on its way.
    const auto page = database->ListSandboxes({.limit = kMaxPage});
    ASSERT_TRUE(page && page->sandboxes.size() == static_cast<std::size_t>(round) + 1);
    std::uint64_t ends_recorded = 0;
    for (const SandboxRecord& sandbox : page->sandboxes) {
      const auto commands = database->ListCommands(sandbox.id, {});
      ASSERT_TRUE(commands && commands->size() == sandbox.last_step);
      for (const CommandRecord& command : *commands) ends_recorded += command.state == CommandState::kEnded ? 1U : 0U;
    }
    ASSERT_EQ(ends_recorded + page->sandboxes.size(), newest);
    events = newest;
  }
}

TEST(Durability, TheLogStaysSmall) {
  const DataFolder folder;
  const auto database = folder.Open();
  const SandboxId sandbox = AddSandbox(*database);
  std::size_t largest = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string id = "cm_" + std::to_string(i);
    ASSERT_TRUE(database->InsertCommand(SomeCommand(sandbox, id), "running"));
    ASSERT_TRUE(database->EndCommand({.id = id, .result = std::string(1U << 20U, 'r')}, SomeEvent()));
    largest = std::max(largest, static_cast<std::size_t>(std::filesystem::file_size(folder.Path("caisson.db-wal"))));
  }
  EXPECT_LT(largest, 8U << 20U);
}

TEST(Durability, ALongLogIsEmptiedWhenAskedFor) {
  const DataFolder folder;
  const auto database = folder.Open();
  const SandboxId sandbox = AddSandbox(*database);
  const auto commands_in_the_file = [&] {
    const DataFolder other;
    std::filesystem::copy_file(folder.Path("caisson.db"), other.Path("caisson.db"));
    auto alone = Database::Open(other.fd(), {});
    if (!alone || !(*alone)->GetSandbox(sandbox)) return std::size_t{0};
    return (*alone)->ListCommands(sandbox, {})->size();
  };
  EXPECT_TRUE(database->ShortenLog());
  EXPECT_EQ(commands_in_the_file(), 0U) << "it is short";
  for (int i = 0; i < 150; ++i) {
    ASSERT_TRUE(database->InsertCommand(SomeCommand(sandbox, "cm_" + std::to_string(i)), "running"));
  }
  EXPECT_EQ(commands_in_the_file(), 0U);
  EXPECT_TRUE(database->ShortenLog());
  EXPECT_EQ(commands_in_the_file(), 150U);
}

TEST(Threads, ShareOneDatabase) {
  const DataFolder folder;
  const auto database = folder.Open();
  const SandboxId sandbox = AddSandbox(*database);
  constexpr int kThreads = 8;
  constexpr int kEach = 50;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const std::string id = std::to_string(thread) + "_" + std::to_string(i);
        EXPECT_TRUE(database->InsertCommand(SomeCommand(sandbox, id), "running"));
        EXPECT_TRUE(database->SetCommandRunning(id, id));
        EXPECT_EQ(database->GetCommand(id)->handle, id);
        EXPECT_TRUE(database->EndCommand({.id = id, .at = i}, SomeEvent()));
        EXPECT_TRUE(database->ListSandboxes({}));
        EXPECT_FALSE(database->ChangeState({.id = sandbox, .from = "paused", .to = "running"}, SomeEvent()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database->GetSandbox(sandbox)->last_step, kThreads * kEach);
  EXPECT_EQ(*database->NewestEvent(), 1U + kThreads * kEach);
  EXPECT_TRUE(database->CommandsNotEnded()->empty());
}

TEST(Threads, OneOfManyChangesAState) {
  const DataFolder folder;
  const auto database = folder.Open();
  const SandboxId sandbox = AddSandbox(*database);
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      if (database->ChangeState({.id = sandbox, .from = "running", .to = "pausing"}, SomeEvent())) ++winners;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(*database->NewestEvent(), 2U);
}

double MillisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// Prints and judges nothing: how long it takes depends on the machine.
TEST(Speed, IsSaid) {
  const DataFolder folder;
  auto database = folder.Open();
  std::vector<SandboxId> sandboxes;
  for (int i = 0; i < 1000; ++i) sandboxes.push_back(AddSandbox(*database, i));
  constexpr int kCommands = 5000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCommands; ++i) {
    const std::string id = "cm_" + std::to_string(i);
    const SandboxId& sandbox = sandboxes[static_cast<std::size_t>(i) % sandboxes.size()];
    ASSERT_TRUE(database->InsertCommand(SomeCommand(sandbox, id), "running"));
    ASSERT_TRUE(database->EndCommand({.id = id, .at = i, .result = std::string(500, 'r')}, SomeEvent()));
  }
  std::printf("start and end of a command: %.4f ms each\n", MillisecondsSince(begin) / (2 * kCommands));
  database.reset();
  const auto opening = std::chrono::steady_clock::now();
  database = folder.Open();
  std::printf("open with 1,000 sandboxes and %d commands: %.2f ms\n", kCommands, MillisecondsSince(opening));
  const auto listing = std::chrono::steady_clock::now();
  ASSERT_EQ(database->ListSandboxes({.limit = kMaxPage})->sandboxes.size(), 1000U);
  std::printf("list 1,000 sandboxes: %.2f ms\n", MillisecondsSince(listing));
  for (int i = 0; i < 64; ++i) {
    const std::string id = "large_" + std::to_string(i);
    ASSERT_TRUE(database->InsertCommand(SomeCommand(sandboxes[0], id), "running"));
    ASSERT_TRUE(database->EndCommand({.id = id, .result = std::string(1U << 20U, 'r')}, SomeEvent()));
  }
  database.reset();
  const auto opening_large = std::chrono::steady_clock::now();
  database = folder.Open();
  std::printf("open with 64 MiB of results: %.2f ms\n", MillisecondsSince(opening_large));
  std::printf("file: %zu KiB\n", folder.Read("caisson.db").size() / 1024);
}

}  // namespace
}  // namespace caisson::state
