#include "caisson/sandbox/command_verdict.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace caisson::sandbox {
namespace {

// What the engine makes of bytes in an end pipe that was closed behind them.
std::optional<proto::End> Read(std::string_view bytes) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const os::Fd reading(ends[0]);
  os::Fd writing(ends[1]);
  EXPECT_TRUE(os::WriteAll(writing.get(), bytes));
  writing.Reset();
  return ReadCommandEnd(reading.get());
}

proto::End End(int exit_code, int signal = 0) {
  proto::End end;
  end.set_ended(true);
  end.set_exit_code(exit_code);
  end.set_signal(signal);
  return end;
}

os::Fd FileWith(std::string_view text) {
  os::Fd file(memfd_create("text", MFD_CLOEXEC));
  EXPECT_TRUE(os::WriteAll(file.get(), text));
  return file;
}

// A leaf whose kernel files say so.
backend::Leaf LeafWith(std::string_view memory_events) {
  std::vector<os::Fd> files;
  for (const std::string_view text :
       {std::string_view(), std::string_view("populated 0\n"), std::string_view("usage_usec 1500\n"),
        std::string_view("4096\n"), memory_events, std::string_view("max 2\n"), std::string_view("max 0\n")}) {
    files.push_back(FileWith(text));
  }
  return {1, std::move(files), {}};
}

TEST(ReadCommandEnd, ReadsWhatAGuestSays) {
  for (const auto& [code, signal] : {std::pair{0, 0}, {1, 0}, {255, 0}, {0, 9}, {0, 64}}) {
    const auto end = Read(End(code, signal).SerializeAsString());
    ASSERT_TRUE(end) << code << " " << signal;
    EXPECT_EQ(end->exit_code(), code);
    EXPECT_EQ(end->signal(), signal);
  }
}

TEST(ReadCommandEnd, NothingIsADeadGuest) { EXPECT_FALSE(Read("")); }

TEST(ReadCommandEnd, RefusesWhatCannotBe) {
  for (const auto& [code, signal] : {std::pair{-1, 0}, {256, 0}, {0, -1}, {0, 65}, {1 << 30, 0}, {0, 1 << 30}}) {
    EXPECT_FALSE(Read(End(code, signal).SerializeAsString())) << code << " " << signal;
  }
  proto::End not_ended = End(0);
  not_ended.set_ended(false);
  EXPECT_FALSE(Read(not_ended.SerializeAsString()));
  not_ended.set_exit_code(3);
  EXPECT_FALSE(Read(not_ended.SerializeAsString()));
}

TEST(ReadCommandEnd, RefusesBytesThatAreNoMessage) {
  const std::string good = End(3).SerializeAsString();
  EXPECT_FALSE(Read("\xff\xff\xff\xff"));
  EXPECT_FALSE(Read(std::string(1, '\0')));
  EXPECT_FALSE(Read(good.substr(0, good.size() - 1)));
  // An endless field, and more than is read of it.
  EXPECT_FALSE(Read(good + std::string("\x22\xff\xff\xff\xff\x07", 6) + std::string(5000, 'x')));
  EXPECT_FALSE(Read(std::string(60'000, '\xff')));
}

TEST(ReadCommandEnd, ReadsOnceAndDoesNotWaitForMore) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const os::Fd reading(ends[0]);
  const os::Fd writing(ends[1]);  // stays open
  ASSERT_TRUE(os::WriteAll(writing.get(), End(3).SerializeAsString()));
  const auto end = ReadCommandEnd(reading.get());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code(), 3);
}

TEST(ReadCommandEnd, ADescriptorThatCannotBeReadIsADeadGuest) { EXPECT_FALSE(ReadCommandEnd(-1)); }

TEST(Classify, BySignalAndExitCode) {
  const backend::Leaf leaf = LeafWith("oom_kill 0\n");
  const Outcome exited = Classify(End(7), leaf);
  ASSERT_TRUE(std::holds_alternative<Exited>(exited));
  EXPECT_EQ(std::get<Exited>(exited).code, 7);
  const Outcome signaled = Classify(End(0, SIGSEGV), leaf);
  ASSERT_TRUE(std::holds_alternative<Signaled>(signaled));
  EXPECT_EQ(std::get<Signaled>(signaled).signal, SIGSEGV);
  const Outcome killed = Classify(End(0, SIGKILL), leaf);
  ASSERT_TRUE(std::holds_alternative<Signaled>(killed)) << "without an event of memory";
  EXPECT_TRUE(std::holds_alternative<Exited>(Classify(End(128 + SIGKILL), leaf)));
}

TEST(Classify, AtTheMemoryLimit) {
  const backend::Leaf leaf = LeafWith("low 0\noom_kill 1\n");
  EXPECT_TRUE(std::holds_alternative<OutOfMemory>(Classify(End(0, SIGKILL), leaf)));
  EXPECT_TRUE(std::holds_alternative<OutOfMemory>(Classify(End(128 + SIGKILL), leaf))) << "as a shell passes it on";
  EXPECT_TRUE(std::holds_alternative<Exited>(Classify(End(1), leaf))) << "it lived with that";
  EXPECT_TRUE(std::holds_alternative<Signaled>(Classify(End(0, SIGTERM), leaf)));
}

TEST(Classify, WhatAnEarlierCommandRanIntoIsNotThisOnes) {
  backend::Leaf leaf = LeafWith("oom_kill 1\n");
  leaf.Restore({.oom_kills = 1});
  EXPECT_TRUE(std::holds_alternative<Signaled>(Classify(End(0, SIGKILL), leaf)));
}

TEST(Measure, TakesTheKernelsCounts) {
  backend::Leaf leaf = LeafWith("oom_kill 1\n");
  CommandResult result;
  Measure(leaf, result);
  EXPECT_EQ(result.cpu, std::chrono::microseconds(1500));
  EXPECT_EQ(result.memory_peak_bytes, 4096U);
  EXPECT_TRUE(result.killed_for_memory);
  EXPECT_TRUE(result.hit_process_limit);
  leaf.Restore({.cpu_us = 500, .oom_kills = 1, .process_limit_hits = 2});
  Measure(leaf, result);
  EXPECT_EQ(result.cpu, std::chrono::microseconds(1000));
  EXPECT_FALSE(result.killed_for_memory);
  EXPECT_FALSE(result.hit_process_limit);
}

TEST(Measure, TakesNoTimeWhenTheCgroupIsGone) {
  backend::Leaf leaf = LeafWith("oom_kill 1\n");
  leaf.Restore({.cpu_us = 1501, .oom_kills = 0, .process_limit_hits = 0});
  CommandResult result;
  Measure(leaf, result);
  EXPECT_EQ(result.cpu, std::chrono::microseconds(0));
}

TEST(ExplainStart, ByStepAndError) {
  const auto explain = [](std::string step, int error) {
    backend::Instance::Started started;
    started.step = std::move(step);
    started.error = error;
    return ExplainStart(started);
  };
  using Reason = FailedToStart::Reason;
  EXPECT_EQ(explain("exec", ENOENT).reason, Reason::kNotFound);
  for (const int error : {EACCES, ENOEXEC, EISDIR, EPERM}) {
    EXPECT_EQ(explain("exec", error).reason, Reason::kNotExecutable) << error;
  }
  EXPECT_EQ(explain("exec", ENOMEM).reason, Reason::kOther);
  const FailedToStart failed = explain("chdir", ENOENT);
  EXPECT_EQ(failed.reason, Reason::kOther);
  EXPECT_EQ(failed.step, "chdir");
  EXPECT_EQ(failed.errno_value, ENOENT);
}

}  // namespace
}  // namespace caisson::sandbox
