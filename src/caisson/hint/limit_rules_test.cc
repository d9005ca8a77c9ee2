#include <gtest/gtest.h>

#include <csignal>

#include "caisson/hint/ended_command.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

using sandbox::Exited;

TEST(DiskFull, NamesTheLimitAndItsOption) {
  for (const char* err :
       {"head: write error: No space left on device\n", "OSError: [Errno 28] No space left on device\n",
        "cp: error writing 'x': Disk quota exceeded\n", "Error: ENOSPC: no space left on device, write\n"}) {
    EndedCommand ended = ThatFailed(err);
    ended.limits.disk = MiB(16);
    const std::string said = Said(DiskFull, ended);
    EXPECT_TRUE(Names(said, "holds 16MiB") && Names(said, "raise --disk above 16MiB")) << err << said;
  }
}

TEST(DiskFull, NamesTheMemoryWhereThatBoundsTheDisk) {
  EndedCommand ended = ThatFailed("head: write error: No space left on device\n");
  ended.limits.memory = MiB(64);
  const std::string said = Said(DiskFull, ended);
  EXPECT_TRUE(Names(said, "holds 32MiB") && Names(said, "--memory above 64MiB")) << said;
  ended.storage = plan::Storage::kBtrfs;
  EXPECT_TRUE(Names(Said(DiskFull, ended), "--disk above 5GiB"));
  ended.storage = plan::Storage::kDirectory;
  EXPECT_TRUE(Names(Said(DiskFull, ended), "--storage btrfs"));
}

TEST(DiskFull, TellsTheFolderOfSharedMemoryApart) {
  EXPECT_TRUE(
      Names(Said(DiskFull, ThatFailed("dd: error writing '/dev/shm/x': No space left on device\n")), "/dev/shm/x"));
}

TEST(DiskFull, TakesTheStoresWordForIt) {
  EndedCommand ended(Exited{0}, "");
  EXPECT_EQ(Said(DiskFull, ended), "");
  ended.result.disk_full = true;
  EXPECT_NE(Said(DiskFull, ended), "");
}

TEST(DiskFull, IsSilentWithoutEvidence) {
  EXPECT_EQ(Said(DiskFull, {Exited{0}, "head: write error: No space left on device\n"}), "");
  EXPECT_EQ(Said(DiskFull, {Exited{1}, "", "No space left on device\n"}), "");
  EXPECT_EQ(Said(DiskFull, ThatFailed("no space\n")), "");
}

TEST(OutOfMemory, NamesTheLimitAndThePeak) {
  EndedCommand ended(sandbox::OutOfMemory{}, "");
  ended.limits.memory = MiB(64);
  ended.result.memory_peak_bytes = MiB(64).value - 1;
  const std::string said = Said(OutOfMemory, ended);
  EXPECT_TRUE(Names(said, "limit of 64MiB (peak 63MiB)") && Names(said, "raise --memory above 64MiB")) << said;
}

TEST(OutOfMemory, KnowsAProcessThatTheCommandOutlived) {
  EndedCommand ended(Exited{1}, "");
  ended.result.killed_for_memory = true;
  EXPECT_TRUE(Names(Said(OutOfMemory, ended), "2GiB"));
}

TEST(OutOfMemory, IsSilentWithoutEvidence) {
  EXPECT_EQ(Said(OutOfMemory, {sandbox::Signaled{SIGKILL}, "Killed\n"}), "") << "killed by itself";
  EXPECT_EQ(Said(OutOfMemory, ThatFailed("MemoryError\n", 137)), "");
}

TEST(TooManyProcesses, NamesTheLimitAndItsOption) {
  EndedCommand ended(Exited{0}, "");
  ended.limits.pids = 32;
  ended.result.hit_process_limit = true;
  EXPECT_TRUE(Names(Said(TooManyProcesses, ended), "raise --pids above 32"));
}

TEST(TooManyProcesses, IsSilentWithoutEvidence) {
  EXPECT_EQ(Said(TooManyProcesses, ThatFailed("bash: fork: Resource temporarily unavailable\n", 254)), "");
}

TEST(TimedOut, NamesTheLimitAndItsOption) {
  EndedCommand ended(sandbox::TimedOut{}, "");
  ended.command.timeout = std::chrono::milliseconds(1500);
  const std::string said = Said(TimedOut, ended);
  EXPECT_TRUE(Names(said, "Raise --timeout above 1500ms") && Names(said, "background")) << said;
  EXPECT_EQ(Said(TimedOutWaitingForInput, ended), "");
}

TEST(TimedOut, GivesWayToTheReason) {
  EndedCommand ended(sandbox::TimedOut{}, "");
  ended.result.waits_for_input = true;
  EXPECT_EQ(Said(TimedOut, ended), "");
  EXPECT_TRUE(Names(Said(TimedOutWaitingForInput, ended), "time limit of 30s"));
}

TEST(TimedOut, IsSilentWithoutEvidence) {
  EXPECT_EQ(Said(TimedOut, ThatFailed("timed out\n", 124)), "") << "timeout(1)";
  EndedCommand ended(sandbox::Cancelled{}, "");
  ended.result.waits_for_input = true;
  EXPECT_EQ(Said(TimedOutWaitingForInput, ended), "");
}

}  // namespace
}  // namespace caisson::hint
