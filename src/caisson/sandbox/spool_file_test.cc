#include "caisson/sandbox/spool_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <filesystem>

#include "caisson/sandbox/spool_fixture.h"

namespace caisson::sandbox {
namespace {

constexpr std::uint64_t kBlock = 4096;

class SpoolFileTest : public testing::Test {
 protected:
  SpoolFile Make(const std::string& name = "spool") const { return SpoolFile::Later(folder_.fd(), name); }
  SpoolFile Reopened(const std::string& name = "spool") const {
    auto opened = SpoolFile::Open(folder_.fd(), name);
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }
  // Passes so many bytes through the pipe, making room first as whoever moves output does.
  void Feed(SpoolFile& spool, std::uint64_t bytes) {
    const std::uint64_t until = pipe_.written() + bytes;
    while (pipe_.written() < until) {
      pipe_.Write(std::min<std::uint64_t>(until - pipe_.written(), SpoolFile::kPiece));
      while (spool.end() < pipe_.written()) {
        if (spool.IsFull()) spool.DropBefore(spool.end() - SpoolFile::kWindow / 2);
        if (spool.Take(pipe_.out()) != SpoolFile::Moved::kSome) FAIL() << "at " << spool.end();
      }
    }
  }
  std::uint64_t Blocks() const {
    struct stat info{};
    EXPECT_EQ(stat(folder_.Path("spool").c_str(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  }

  SpoolFolder folder_;
  PatternPipe pipe_;
};

void ExpectPattern(const SpoolFile& spool, std::uint64_t from, std::uint64_t until) {
  constexpr std::size_t kStep = 1U << 20U;
  while (from < until) {
    const std::size_t size = std::min<std::uint64_t>(kStep, until - from);
    const auto bytes = spool.Read(from, size);
    ASSERT_TRUE(bytes);
    ASSERT_TRUE(*bytes == PatternAt(from, size)) << "other bytes from " << from;
    from += size;
  }
}

// All that can be known of a spool, from its file alone.
void ExpectSame(const SpoolFile& live, const SpoolFile& opened) {
  EXPECT_EQ(opened.end(), live.end());
  EXPECT_EQ(opened.dropped_until() - opened.dropped_from(), live.dropped_until() - live.dropped_from());
  if (live.dropped_until() == live.dropped_from()) return;
  EXPECT_EQ(opened.dropped_from(), live.dropped_from());
  EXPECT_EQ(opened.dropped_until(), live.dropped_until());
}

TEST_F(SpoolFileTest, TakesWhatThePipeHoldsAndNoMore) {
  SpoolFile spool = Make();
  EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kNothing);
  pipe_.Write(10);
  EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kSome);
  EXPECT_EQ(spool.end(), 10U);
  EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kNothing);
  pipe_.Write(5);
  pipe_.Close();
  EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kSome);
  EXPECT_EQ(spool.end(), 15U);
  EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kEnd);
  EXPECT_EQ(*spool.Read(0, 100), PatternAt(0, 15));
}

TEST_F(SpoolFileTest, ReadsFromAnyOffset) {
  SpoolFile spool = Make();
  Feed(spool, 100);
  EXPECT_EQ(*spool.Read(0, 3), PatternAt(0, 3));
  EXPECT_EQ(*spool.Read(40, 20), PatternAt(40, 20));
  EXPECT_EQ(*spool.Read(90, 20), PatternAt(90, 10));
  EXPECT_EQ(*spool.Read(100, 20), "");
  EXPECT_EQ(*spool.Read(1000, 20), "");
  EXPECT_EQ(*spool.Read(5, 0), "");
}

TEST_F(SpoolFileTest, HasAFileFromItsFirstByteOn) {
  const auto is_there = [&] { return std::filesystem::exists(folder_.Path("spool")); };
  SpoolFile spool = Make();
  EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kNothing);
  EXPECT_EQ(*spool.Read(0, 10), "");
  EXPECT_EQ(Reopened().end(), 0U);
  EXPECT_FALSE(is_there());
  Feed(spool, 1);
  EXPECT_TRUE(is_there());
  SpoolFile silent = Make("silent");
  pipe_.Close();
  EXPECT_EQ(silent.Take(pipe_.out()), SpoolFile::Moved::kEnd);
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("silent")));
}

TEST_F(SpoolFileTest, WithoutAFileTheCommandGoesOnAndItsOutputIsMarked) {
  ASSERT_EQ(mkdirat(folder_.fd(), "spool", 0700), 0);
  SpoolFile spool = Make();
  pipe_.Write(5000);
  EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kSome);
  EXPECT_EQ(spool.end(), 5000U);
  EXPECT_EQ(spool.dropped_from(), 0U);
  EXPECT_GE(spool.dropped_until(), 5000U);
  ASSERT_EQ(unlinkat(folder_.fd(), "spool", AT_REMOVEDIR), 0);
  Feed(spool, 10'000);
  ExpectSame(spool, Reopened());
  ExpectPattern(spool, spool.dropped_until(), 15'000);
}

TEST_F(SpoolFileTest, FollowsNoLink) {
  SpoolFile spool = Make();
  Feed(spool, 1);
  ASSERT_EQ(symlinkat("spool", folder_.fd(), "link"), 0);
  EXPECT_FALSE(SpoolFile::Open(folder_.fd(), "link"));
}

TEST_F(SpoolFileTest, GoesOnWhereAnotherProcessStopped) {
  {
    SpoolFile spool = Make();
    Feed(spool, 5000);
    ExpectSame(spool, Reopened());
  }
  SpoolFile spool = Reopened();
  EXPECT_EQ(spool.end(), 5000U);
  Feed(spool, 5000);
  ExpectSame(spool, Reopened());
  ExpectPattern(spool, 0, 10'000);
  EXPECT_EQ(spool.dropped_from(), spool.dropped_until());
}

TEST_F(SpoolFileTest, KeepsTheHeadAndAWindow) {
  SpoolFile spool = Make();
  Feed(spool, SpoolFile::kHead + SpoolFile::kWindow - SpoolFile::kPiece);
  EXPECT_FALSE(spool.IsFull());
  EXPECT_EQ(spool.dropped_from(), spool.dropped_until());
  Feed(spool, 1);
  EXPECT_TRUE(spool.IsFull());
  Feed(spool, 4 * SpoolFile::kPiece + 12345);
  EXPECT_EQ(spool.dropped_from(), SpoolFile::kHead);
  EXPECT_GT(spool.dropped_until(), SpoolFile::kHead);
  EXPECT_LE(spool.dropped_until() + SpoolFile::kWindow / 2, spool.end()) << "half of the window stays";
  EXPECT_FALSE(spool.IsFull());
  ExpectPattern(spool, 0, SpoolFile::kHead);
  ExpectPattern(spool, spool.dropped_until(), spool.end());
  EXPECT_EQ(*spool.Read(SpoolFile::kHead, kBlock), std::string(kBlock, '\0'));
  ExpectSame(spool, Reopened());
  EXPECT_LE(Blocks(), spool.end() - spool.dropped_until() + SpoolFile::kHead + MiB(1).value) << "a hole takes no room";

  Feed(spool, SpoolFile::kWindow);
  EXPECT_EQ(spool.end(), pipe_.written());
  ExpectPattern(spool, spool.dropped_until(), spool.end());
  ExpectSame(spool, Reopened());
}

TEST_F(SpoolFileTest, DropsNeitherTheHeadNorWhatIsToCome) {
  SpoolFile spool = Make();
  Feed(spool, SpoolFile::kHead + 10 * kBlock + 5);
  spool.DropBefore(SpoolFile::kHead);
  EXPECT_EQ(spool.dropped_from(), spool.dropped_until());
  spool.DropBefore(SpoolFile::kHead + 3 * kBlock + 1);
  EXPECT_EQ(spool.dropped_until(), SpoolFile::kHead + 3 * kBlock);
  spool.DropBefore(SpoolFile::kHead);
  EXPECT_EQ(spool.dropped_until(), SpoolFile::kHead + 3 * kBlock) << "not less than before";
  spool.DropBefore(~std::uint64_t{0});
  EXPECT_EQ(spool.dropped_until(), SpoolFile::kHead + 10 * kBlock);
  ExpectPattern(spool, spool.dropped_until(), spool.end());
  ExpectSame(spool, Reopened());
}

// In a child: a file that reaches `limit` bytes is refused more, as on a full disk. `body` says whether all is right.
template <typename Body>
void WithFullDisk(Body body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "see above";
}

void LimitFiles(std::uint64_t bytes) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_F(SpoolFileTest, OnAFullDiskTheMiddleGoesFirst) {
  WithFullDisk([&] {
    SpoolFile spool = Make();
    LimitFiles(SpoolFile::kHead + 20 * kBlock + 7);
    Feed(spool, SpoolFile::kHead + 20 * kBlock + 7);
    EXPECT_EQ(spool.dropped_from(), spool.dropped_until());
    pipe_.Write(3);
    EXPECT_EQ(spool.Take(pipe_.out()), SpoolFile::Moved::kSome);
    EXPECT_EQ(spool.end(), SpoolFile::kHead + 20 * kBlock + 7) << "room was made, and nothing taken";
    EXPECT_EQ(spool.dropped_until(), SpoolFile::kHead + 20 * kBlock);
    ExpectSame(spool, Reopened());
  });
}

TEST_F(SpoolFileTest, OnAFullDiskTheCommandGoesOn) {
  for (const std::uint64_t full_at :
       {std::uint64_t{0}, std::uint64_t{100}, 3 * kBlock, 3 * kBlock + 5, SpoolFile::kHead - 1, SpoolFile::kHead,
        SpoolFile::kHead + 7, 2 * SpoolFile::kHead + 7}) {
    SCOPED_TRACE(full_at);
    unlinkat(folder_.fd(), "spool", 0);
    WithFullDisk([&] {
      SpoolFile spool = Make();
      LimitFiles(full_at);
      Feed(spool, full_at + 3 * SpoolFile::kPiece + 11);
      EXPECT_EQ(spool.end(), pipe_.written());
      EXPECT_LE(spool.dropped_from(), std::min(SpoolFile::kHead, full_at));
      EXPECT_GE(spool.dropped_from() + kBlock, std::min(SpoolFile::kHead, full_at)) << "the rest of the head stays";
      EXPECT_GE(spool.dropped_until(), spool.end());
      ExpectPattern(spool, 0, spool.dropped_from());

      // There is room again.
      LimitFiles(RLIM_INFINITY);
      Feed(spool, 2 * SpoolFile::kPiece + 3);
      EXPECT_EQ(spool.end(), pipe_.written());
      EXPECT_LT(spool.dropped_until(), spool.end() - SpoolFile::kPiece);
      ExpectPattern(spool, spool.dropped_until(), spool.end());
      ExpectSame(spool, Reopened());

      // And none again.
      LimitFiles(spool.end());
      Feed(spool, SpoolFile::kPiece);
      EXPECT_GE(spool.dropped_until(), spool.end());
      LimitFiles(RLIM_INFINITY);
      Feed(spool, SpoolFile::kPiece);
      ExpectPattern(spool, 0, spool.dropped_from());
      ExpectPattern(spool, spool.dropped_until(), spool.end());
      ExpectSame(spool, Reopened());
    });
  }
}

// A child moves what this process writes and is killed while it does: what it left in pipe and file together is what
// was written.
TEST_F(SpoolFileTest, LosesAndRepeatsNothingWhenItsProcessIsKilled) {
  constexpr std::uint64_t kAll = MiB(8).value;
  constexpr int kKills = 30;
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    SCOPED_TRACE(kill_number);
    const std::string name = "spool" + std::to_string(kill_number);
    PatternPipe pipe;
    {
      const SpoolFile made = Make(name);
    }
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      SpoolFile spool = Reopened(name);
      while (true) {
        pollfd entry{pipe.out(), POLLIN, 0};
        poll(&entry, 1, -1);
        spool.Take(pipe.out());
      }
    }
    // Somewhere in the stream, each time elsewhere.
    const std::uint64_t kill_at = kAll * static_cast<std::uint64_t>(kill_number + 1) / (kKills + 1);
    while (pipe.written() < kAll) {
      if (pipe.written() >= kill_at) break;
      if (pipe.Write(MiB(1).value) != 0) continue;
      pollfd entry{pipe.in().get(), POLLOUT, 0};
      ASSERT_EQ(poll(&entry, 1, 60'000), 1);
    }
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;

    SpoolFile spool = Reopened(name);
    while (pipe.Write(MiB(1).value) != 0) {
    }
    while (spool.Take(pipe.out()) == SpoolFile::Moved::kSome) {
    }
    ASSERT_EQ(spool.end(), pipe.written());
    EXPECT_EQ(spool.dropped_from(), spool.dropped_until());
    ExpectPattern(spool, 0, spool.end());
    unlinkat(folder_.fd(), name.c_str(), 0);
  }
}

}  // namespace
}  // namespace caisson::sandbox
