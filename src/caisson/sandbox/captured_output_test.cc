#include "caisson/sandbox/captured_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace caisson::sandbox {
namespace {

CapturedOutput Capture(std::uint64_t limit, std::initializer_list<std::string_view> parts) {
  OutputCapture capture(Bytes{limit}, Spool::kDiscard, -1);
  for (const std::string_view part : parts) capture.Append(part);
  return std::move(capture).Take();
}

TEST(OutputCapture, KeepsTheFirstBytesAndCountsAll) {
  const CapturedOutput output = Capture(10, {"01234", "56", "789ab", "cdef"});
  EXPECT_EQ(output.kept, "0123456789");
  EXPECT_EQ(output.total_bytes, 16U);
  EXPECT_TRUE(output.truncated);
  EXPECT_FALSE(output.spool.valid());
}

TEST(OutputCapture, IsTruncatedFromOneByteMoreThanTheLimit) {
  const CapturedOutput full = Capture(10, {"01234", "56789"});
  EXPECT_EQ(full.kept, "0123456789");
  EXPECT_EQ(full.total_bytes, 10U);
  EXPECT_FALSE(full.truncated);
  const CapturedOutput over = Capture(10, {"01234", "56789", "a"});
  EXPECT_EQ(over.kept, "0123456789");
  EXPECT_EQ(over.total_bytes, 11U);
  EXPECT_TRUE(over.truncated);
}

TEST(OutputCapture, KeepsNothingAndEverything) {
  const CapturedOutput none = Capture(10, {});
  EXPECT_EQ(none.kept, "");
  EXPECT_EQ(none.total_bytes, 0U);
  EXPECT_FALSE(none.truncated);
  const CapturedOutput dropped = Capture(0, {"a", "", "b"});
  EXPECT_EQ(dropped.kept, "");
  EXPECT_EQ(dropped.total_bytes, 2U);
  EXPECT_TRUE(dropped.truncated);
  EXPECT_EQ(Capture(~std::uint64_t{0}, {"a", "b"}).kept, "ab");
}

TEST(OutputCapture, KeepsTheLastBytesOfWhatIsTruncated) {
  EXPECT_EQ(Capture(4, {"ab", "cd"}).tail, "");
  EXPECT_EQ(Capture(4, {"ab", "cde", "f"}).tail, "ef");
  const std::size_t most = kTailLimit.value;
  const std::string large(3 * most, 'x');
  EXPECT_EQ(Capture(4, {large, "end"}).tail, std::string(most - 3, 'x') + "end");
  EXPECT_EQ(Capture(4, {"abcd" + large + "end"}).tail, std::string(most - 3, 'x') + "end");
  OutputCapture capture(Bytes{0}, Spool::kDiscard, -1);
  std::string all;
  for (int i = 0; i < 40'000; ++i) {
    capture.Append(std::to_string(i));
    all += std::to_string(i);
  }
  EXPECT_EQ(std::move(capture).Take().tail, all.substr(all.size() - most)) << "in small pieces";
}

TEST(OutputCapture, KeepsBytesOfAnyKind) {
  const std::string bytes("\0\xff\n", 3);
  EXPECT_EQ(Capture(10, {bytes, bytes}).kept, bytes + bytes);
}

TEST(OutputCapture, NeedsNoMemoryBeyondTheLimit) {
  OutputCapture capture(KiB(1), Spool::kDiscard, -1);
  const std::string chunk(1U << 20U, 'x');
  for (int i = 0; i < 64; ++i) capture.Append(chunk);
  const CapturedOutput output = std::move(capture).Take();
  EXPECT_EQ(output.kept.size(), 1024U);
  EXPECT_LE(output.kept.capacity(), 4096U);
  EXPECT_EQ(output.total_bytes, 64U << 20U);
}

class SpoolTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "captured_output_test.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    folder_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const os::Fd file(openat(folder_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file.valid()) GTEST_SKIP() << "the file system of temporary files has no unnamed ones";
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(path_)) << "a spool has a name";
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  static std::string ContentOf(const os::Fd& spool) {
    EXPECT_EQ(lseek(spool.get(), 0, SEEK_SET), 0);
    return os::ReadAll(spool.get(), 1U << 20U).value_or("unreadable");
  }
  static std::uint64_t SizeOf(const os::Fd& spool) {
    struct stat info{};
    EXPECT_EQ(fstat(spool.get(), &info), 0);
    return static_cast<std::uint64_t>(info.st_size);
  }

  std::string path_;
  os::Fd folder_;
};

TEST_F(SpoolTest, HoldsTheWholeFromTheStart) {
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{5}, std::uint64_t{9}}) {
    OutputCapture capture(Bytes{limit}, Spool::kKeep, folder_.get());
    for (const char* part : {"01234", "56", "", "789"}) capture.Append(part);
    const CapturedOutput output = std::move(capture).Take();
    EXPECT_TRUE(output.truncated);
    EXPECT_EQ(output.kept, std::string("0123456789").substr(0, limit));
    ASSERT_TRUE(output.spool.valid()) << limit;
    EXPECT_EQ(ContentOf(output.spool), "0123456789") << limit;
    EXPECT_EQ(fcntl(output.spool.get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST_F(SpoolTest, IsNotMadeForWhatIsKept) {
  OutputCapture capture(Bytes{10}, Spool::kKeep, folder_.get());
  capture.Append("01234");
  capture.Append("56789");
  const CapturedOutput output = std::move(capture).Take();
  EXPECT_FALSE(output.truncated);
  EXPECT_FALSE(output.spool.valid());
}

TEST_F(SpoolTest, EndsAtItsLimit) {
  OutputCapture capture(Bytes{10}, Spool::kKeep, folder_.get());
  const std::string chunk((32U << 20U) + 1, 'x');
  for (int i = 0; i < 9; ++i) capture.Append(chunk);
  const CapturedOutput output = std::move(capture).Take();
  EXPECT_EQ(output.total_bytes, 9 * chunk.size());
  ASSERT_TRUE(output.spool.valid());
  EXPECT_EQ(SizeOf(output.spool), kSpoolLimit.value);
}

TEST_F(SpoolTest, KeepsWhatWasWrittenWhenTheDiskIsFull) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A write past the limit fails like one to a full disk.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8, 8};
    setrlimit(RLIMIT_FSIZE, &limit);
    OutputCapture capture(Bytes{2}, Spool::kKeep, folder_.get());
    for (const char* part : {"012", "34567", "89", "ab"}) capture.Append(part);
    const CapturedOutput output = std::move(capture).Take();
    const bool right = output.total_bytes == 12 && output.kept == "01" && ContentOf(output.spool) == "01234567";
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Without a spool from the start there is none: one that begins later would have a hole.
TEST_F(SpoolTest, IsNotMadeLaterWhenItCouldNotBeMade) {
  const int number = dup(folder_.get());
  close(number);
  OutputCapture capture(Bytes{4}, Spool::kKeep, number);
  capture.Append("012345");
  ASSERT_EQ(dup2(folder_.get(), number), number);
  capture.Append("6789");
  close(number);
  const CapturedOutput output = std::move(capture).Take();
  EXPECT_EQ(output.kept, "0123");
  EXPECT_EQ(output.total_bytes, 10U);
  EXPECT_FALSE(output.spool.valid());
}

}  // namespace
}  // namespace caisson::sandbox
