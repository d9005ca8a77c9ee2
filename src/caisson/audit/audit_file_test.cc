#include "caisson/audit/audit_file.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "caisson/audit/audit_fixture.h"
#include "caisson/audit/verify_files.h"
#include "caisson/record/limits.h"

namespace caisson::audit {
namespace {

class AuditFileTest : public AuditFixture {
 protected:
  // Expects a whole chain of so many records in so many files, from the first number.
  void ExpectFine(std::uint64_t records, std::uint64_t files = 1, std::uint64_t first = 1) const {
    const auto verified = VerifyFiles(data_, id_, {}, {});
    ASSERT_TRUE(verified) << Words(verified.error());
    if (verified->wrong)
      ADD_FAILURE() << verified->wrong->file << ":" << verified->wrong->line << ": " << verified->wrong->why;
    EXPECT_EQ(verified->records, records);
    EXPECT_EQ(verified->files, files);
    EXPECT_EQ(verified->first_seq, first);
  }
};

TEST_F(AuditFileTest, AppendsLinesAndGoesOnAfterAReopening) {
  Append(*Open(), 1, 3);
  Append(*Open(), 4, 5);
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_NE(lines[4].find("\"seq\":5,"), std::string::npos);
  ExpectFine(5);
  struct stat info{};
  ASSERT_EQ(stat(Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
}

TEST_F(AuditFileTest, HasOneWriter) {
  const auto file = Open();
  const auto second = AuditFile::Open(data_, id_, record::Time());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kConflict);
}

TEST_F(AuditFileTest, FollowsNoLink) {
  ASSERT_EQ(mkdir((path_ + "/audit").c_str(), 0700), 0);
  ASSERT_EQ(symlink("/dev/null", Path().c_str()), 0);
  EXPECT_FALSE(AuditFile::Open(data_, id_, record::Time()));
  ASSERT_EQ(unlink(Path().c_str()), 0);
  ASSERT_EQ(rmdir((path_ + "/audit").c_str()), 0);
  ASSERT_EQ(symlink("/tmp", (path_ + "/audit").c_str()), 0);
  EXPECT_FALSE(AuditFile::Open(data_, id_, record::Time()));
}

TEST_F(AuditFileTest, ATornLineIsCutOffAndRecordedAsAGap) {
  Append(*Open(), 1, 3);
  const std::string whole = Read();
  const std::string line = Lines()[2];
  for (const std::size_t torn : {std::size_t{1}, line.size() / 2, line.size()}) {
    Write(whole + line.substr(0, torn));
    Append(*Open(), 4, 4);
    const auto lines = Lines();
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_NE(lines[3].find("\"kind\":\"gap\""), std::string::npos) << lines[3];
    EXPECT_NE(lines[3].find("{\"type\":\"torn_line\",\"bytes\":" + std::to_string(torn) + "}"), std::string::npos)
        << lines[3];
    ExpectFine(5);
  }
  Write("{\"ts\":\"");
  Append(*Open(), 1, 1);
  ExpectFine(2);
}

TEST_F(AuditFileTest, ADamagedEndIsNotContinued) {
  Append(*Open(), 1, 3);
  const std::string whole = Read();
  std::string changed = whole;
  changed[changed.rfind("tool3")] = 'x';
  for (const std::string& content : {changed, whole + "{}\n", whole + "\n", whole + std::string(1U << 20U, '\0')}) {
    Write(content);
    const auto refused = AuditFile::Open(data_, id_, record::Time());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kInternal);
    EXPECT_EQ(Read(), content) << "the evidence stays";
  }
}

TEST_F(AuditFileTest, NothingIsAppendedToAFileThatSomebodyElseChanged) {
  const auto file = Open();
  Append(*file, 1, 2);
  std::ofstream(Path(), std::ios::app) << "{";
  const auto refused = file->Append(Step("lost"), record::Redactor());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kConflict);
  std::filesystem::remove(Path());
  EXPECT_FALSE(file->Append(Step("lost"), record::Redactor()));
}

TEST_F(AuditFileTest, RotatesAndCarriesTheChainOver) {
  const AuditOptions options{.rotate_at = Bytes{3000}, .keep = 100};
  Append(*Open(options), 1, 7);
  Append(*Open(options), 8, 20);
  EXPECT_LE(Read("1").size(), 3000U);
  const auto verified = VerifyFiles(data_, id_, {}, {});
  ASSERT_TRUE(verified);
  EXPECT_GE(verified->files, 3U);
  ExpectFine(20, verified->files);
}

// A kill between the renaming of a full file and the making of the next.
TEST_F(AuditFileTest, GoesOnBehindAFullFile) {
  Append(*Open(), 1, 3);
  std::filesystem::rename(Path(), Path("1"));
  Append(*Open(), 4, 5);
  EXPECT_EQ(Lines().size(), 2U);
  ExpectFine(5, 2);
}

TEST_F(AuditFileTest, DropsOldFilesAndRecordsIt) {
  const AuditOptions options{.rotate_at = Bytes{3000}, .keep = 2};
  const auto file = Open(options);
  Append(*file, 1, 60);
  const auto verified = VerifyFiles(data_, id_, {}, {});
  ASSERT_TRUE(verified);
  EXPECT_FALSE(verified->wrong) << verified->wrong->why;
  EXPECT_EQ(verified->files, 3U);
  EXPECT_GT(verified->first_seq, 1U);
  EXPECT_EQ(verified->last_seq, file->head().seq);
  EXPECT_EQ(verified->last_seq - verified->first_seq + 1, verified->records);
}

TEST_F(AuditFileTest, ManyThreadsMakeOneChain) {
  const auto file = Open({.rotate_at = Bytes{30000}, .keep = 100});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&file] { Append(*file, 1, 50); });
  for (std::thread& thread : threads) thread.join();
  const auto verified = VerifyFiles(data_, id_, {}, {});
  ASSERT_TRUE(verified);
  EXPECT_FALSE(verified->wrong);
  EXPECT_EQ(verified->records, 200U);
}

TEST_F(AuditFileTest, SyncsWhenAsked) {
  Append(*Open({.sync = AuditOptions::Sync::kEachRecord}), 1, 3);
  ExpectFine(3);
}

// Runs `body` in a child, where a limit or a mount of its own does no harm.
template <typename Body>
int StatusOfChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// A limit in the middle of a line makes a short write, then EFBIG; raised again, the gap is recorded.
TEST_F(AuditFileTest, ARecordWithoutRoomIsTakenBackAndItsGapRecorded) {
  const int status = StatusOfChild([this] {
    signal(SIGXFSZ, SIG_IGN);
    const auto file = Open();
    Append(*file, 1, 3);
    const std::string whole = Read();
    const rlimit limit{.rlim_cur = whole.size() + 100, .rlim_max = RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_FALSE(file->Append(Step("lost"), record::Redactor()));
    EXPECT_FALSE(file->Append(Step("lost"), record::Redactor()));
    EXPECT_EQ(Read(), whole) << "what was written of it is taken back";
    const rlimit none{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
    Append(*file, 4, 4);
    const auto lines = Lines();
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_NE(lines[3].find("\"type\":\"records_missed\",\"count\":2,"), std::string::npos) << lines[3];
    EXPECT_EQ(Read().find("lost"), std::string::npos);
    ExpectFine(5);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(AuditFileTest, AFullDiskLosesNothingThatWasReported) {
  if (geteuid() != 0 || mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "no right to mount";
  data_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  {
    const auto file = Open();
    std::uint64_t reported = 0;
    Result<record::Head> head = file->Append(Step("first"), record::Redactor());
    for (; head && reported < 1000; head = file->Append(Step("more"), record::Redactor())) reported = head->seq;
    ASSERT_FALSE(head);
    EXPECT_EQ(head.error().code(), Code::kResourceExhausted) << Words(head.error());
    ExpectFine(reported);
  }
  data_.Reset();
  EXPECT_EQ(umount2(path_.c_str(), MNT_DETACH), 0);
}

// No promise with a number: what an append costs here, for whoever reads the log.
TEST_F(AuditFileTest, PrintsWhatAnAppendTakes) {
  constexpr int kCount = 2000;
  record::Entry entry = Step("run_command");
  entry.args = R"({"command":"make -j4 && ctest --output-on-failure","timeout":30})";
  std::string output;
  while (output.size() < record::kStreamWindow) output += "[12/34] Building CXX object src/a/CMakeFiles/b.dir/c.cc.o\n";
  entry.standard_output = record::Stream{output, Bytes{output.size()}, Sha256Of(output)};
  entry.standard_error = record::Stream{"", Bytes{0}, Sha256Of("")};
  entry.files_changed =
      std::vector<record::ChangedFile>(10, {"/home/agent/workspace/build/x.o", "created", "file", Bytes{4096}});
  const record::Redactor redactor({{"A", "a-secret-of-some-length"}, {"B", "another-secret-value"}});
  const auto file = Open();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCount; ++i) ASSERT_TRUE(file->Append(entry, redactor));
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  std::printf("an append takes %.1f us, %zu bytes\n", spent.count() / kCount, Read().size() / kCount);
}

}  // namespace
}  // namespace caisson::audit
