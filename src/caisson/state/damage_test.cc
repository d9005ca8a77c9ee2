#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <functional>

#include "caisson/state/data_folder.h"
#include "caisson/state/database_file.h"

namespace caisson::state {
namespace {

// Runs `body` in a child process, which fails the test by returning false. What it says goes to standard error.
bool InChild(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() && !testing::Test::HasFailure() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Fills the database and ends the process without closing it: what was committed is in the log.
void FillAndDie(const DataFolder& folder, int sandboxes) {
  ASSERT_TRUE(InChild([&]() -> bool {
    const auto database = folder.Open();
    for (int i = 0; i < sandboxes; ++i) AddSandbox(*database);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }));
}

void ExpectDamage(const DataFolder& folder, const char* file) {
  const std::string database = folder.Read(kDatabaseName);
  const std::string log = folder.Read(kLogName);
  const bool has_database = folder.Has(kDatabaseName);
  const auto refused = Database::Open(folder.fd(), {});
  ExpectCode(refused, Code::kInternal);
  if (refused) return;
  const std::string words = Words(refused.error());
  EXPECT_NE(words.find(folder.Path(file)), std::string::npos) << words;
  EXPECT_NE(refused.error().remediation().find("move"), std::string::npos) << words;
  EXPECT_EQ(folder.Has(kDatabaseName), has_database);
  EXPECT_TRUE(folder.Read(kDatabaseName) == database) << "the file was changed";
  EXPECT_TRUE(folder.Read(kLogName) == log) << "the log was changed";
}

TEST(Damage, AnAbruptEndIsNone) {
  const DataFolder folder;
  FillAndDie(folder, 30);
  ASSERT_GT(folder.Read(kLogName).size(), 0U);
  EXPECT_TRUE(IsLogHeader(folder.Read(kLogName).substr(0, 32)));
  const auto database = folder.Open();
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(database->CountSandboxes()->at("running"), 30U);
}

TEST(Damage, OfTheHeaderIsFound) {
  const DataFolder folder;
  (void)folder.Open();
  std::string bytes = folder.Read(kDatabaseName);
  bytes.replace(0, 16, "not a database !");
  folder.Write(kDatabaseName, bytes);
  ExpectDamage(folder, kDatabaseName);
}

TEST(Damage, IsFoundWithALogBesideIt) {
  const DataFolder folder;
  {
    const auto database = folder.Open();
    for (int i = 0; i < 50; ++i) AddSandbox(*database);
  }
  FillAndDie(folder, 5);
  folder.Write(kDatabaseName, std::string(8192, 'x'));
  ExpectDamage(folder, kDatabaseName);
}

TEST(Damage, ATruncatedFileIsFound) {
  const DataFolder folder;
  {
    const auto database = folder.Open();
    for (int i = 0; i < 200; ++i) AddSandbox(*database);
  }
  const std::string bytes = folder.Read(kDatabaseName);
  ASSERT_GT(bytes.size(), 40'000U);
  for (const std::size_t size : {bytes.size() / 2, bytes.size() - 1, std::size_t{4096}, std::size_t{100}}) {
    folder.Write(kDatabaseName, bytes.substr(0, size));
    ExpectDamage(folder, kDatabaseName);
  }
}

TEST(Damage, OfAnyPageIsFound) {
  const DataFolder folder;
  {
    const auto database = folder.Open();
    for (int i = 0; i < 50; ++i) AddSandbox(*database);
  }
  const std::string bytes = folder.Read(kDatabaseName);
  for (std::size_t page = 1; page < bytes.size() / 4096; ++page) {
    std::string broken = bytes;
    broken.replace(page * 4096, 64, std::string(64, '\x7f'));
    folder.Write(kDatabaseName, broken);
    ExpectDamage(folder, kDatabaseName);
  }
}

TEST(Damage, OfALargeFileIsFoundWhereSandboxesAre) {
  const DataFolder folder;
  {
    const auto database = folder.Open();
    const SandboxId sandbox = AddSandbox(*database);
    for (int i = 0; i < 12; ++i) {
      const std::string id = "cm_" + std::to_string(i);
      ASSERT_TRUE(database->InsertCommand(SomeCommand(sandbox, id), "running"));
      ASSERT_TRUE(database->EndCommand({.id = id, .result = std::string(1U << 20U, 'r')}, SomeEvent()));
    }
    ASSERT_TRUE(
        database->ChangeState({.id = sandbox, .from = "running", .to = "failed", .reason = "a mark"}, SomeEvent()));
  }
  std::string bytes = folder.Read(kDatabaseName);
  const std::size_t mark = bytes.find("a mark");
  ASSERT_NE(mark, std::string::npos);
  bytes.replace(mark / 4096 * 4096, 64, std::string(64, '\x7f'));
  folder.Write(kDatabaseName, bytes);
  ExpectDamage(folder, kDatabaseName);
}

TEST(Damage, AnEmptiedOrMissingFileBesideItsLogIsFound) {
  const DataFolder folder;
  FillAndDie(folder, 5);
  folder.Write(kDatabaseName, "");
  ExpectDamage(folder, kDatabaseName);
  ASSERT_EQ(unlink(folder.Path(kDatabaseName).c_str()), 0);
  ExpectDamage(folder, kDatabaseName);
}

TEST(Damage, AGarbageLogIsFound) {
  const DataFolder folder;
  FillAndDie(folder, 5);
  const std::string log = folder.Read(kLogName);
  folder.Write(kLogName, std::string(log.size(), 'g'));
  ExpectDamage(folder, kLogName);
  folder.Write(kLogName, std::string(log.size(), '\0'));
  ExpectDamage(folder, kLogName);
  for (std::size_t byte = 0; byte < 32; ++byte) {
    std::string broken = log;
    broken[byte] = static_cast<char>(broken[byte] ^ 0x10);
    EXPECT_FALSE(IsLogHeader(broken)) << byte;
  }
  EXPECT_FALSE(IsLogHeader(log.substr(0, 31)));
  // A power failure leaves such a one.
  folder.Write(kLogName, std::string(32, '\0'));
  EXPECT_NE(folder.Open(), nullptr);
}

TEST(Damage, ALinkInPlaceOfAFileIsRefused) {
  for (const char* name : {kDatabaseName, kLogName}) {
    const DataFolder folder;
    folder.Write("elsewhere", "");
    ASSERT_EQ(symlink("elsewhere", folder.Path(name).c_str()), 0);
    ExpectCode(Database::Open(folder.fd(), {}), Code::kInternal);
    EXPECT_EQ(folder.Read("elsewhere"), "");
  }
}

TEST(Access, OnlyTheOwnerMayReadTheFiles) {
  const DataFolder folder;
  const mode_t before = umask(0);
  const auto database = folder.Open();
  umask(before);
  AddSandbox(*database);
  for (const char* name : {kDatabaseName, kLogName}) {
    struct stat status{};
    ASSERT_EQ(stat(folder.Path(name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 07777U, 0600U) << name;
  }
  EXPECT_FALSE(folder.Has("caisson.db-shm"));
}

TEST(Access, ThroughTheDescriptorWhateverBecomesOfThePath) {
  DataFolder folder;
  const DataFolder other;
  ASSERT_EQ(mkdir(folder.Path("data").c_str(), 0700), 0);
  const os::Fd data(open(folder.Path("data").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(rename(folder.Path("data").c_str(), folder.Path("moved").c_str()), 0);
  ASSERT_EQ(symlink(other.Path("").c_str(), folder.Path("data").c_str()), 0);
  auto database = Database::Open(data, {});
  ASSERT_TRUE(database) << Words(database.error());
  AddSandbox(**database);
  EXPECT_TRUE(folder.Has("moved/caisson.db"));
  EXPECT_TRUE(folder.Has("moved/caisson.db-wal"));
  EXPECT_FALSE(other.Has(kDatabaseName));

  // The end of the connection removes the log: ours, wherever it is now.
  ASSERT_EQ(rename(folder.Path("moved").c_str(), folder.Path("again").c_str()), 0);
  ASSERT_EQ(symlink(other.Path("").c_str(), folder.Path("moved").c_str()), 0);
  other.Write(kLogName, "somebody else's");
  database->reset();
  EXPECT_FALSE(folder.Has("again/caisson.db-wal"));
  EXPECT_EQ(other.Read(kLogName), "somebody else's");
}

TEST(Access, AProcessThatIsNotDumpableHasIt) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  const DataFolder folder;
  ASSERT_EQ(chown(folder.Path("").c_str(), 65534, 65534), 0);
  EXPECT_TRUE(InChild([&] {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return false;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return false;
    const auto database = folder.Open();
    AddSandbox(*database);
    return true;
  }));
}

TEST(Access, ASecondConnectionIsRefused) {
  const DataFolder folder;
  const auto first = folder.Open();
  DatabaseOptions options;
  options.connection.busy_wait = std::chrono::milliseconds(0);
  const auto second = Database::Open(folder.fd(), options);
  ExpectCode(second, Code::kUnavailable);
  EXPECT_TRUE(second.error().retryable());
  AddSandbox(*first);
}

TEST(Access, WithoutTheRightToWriteTheErrorSaysSo) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become a user who may not write";
  const DataFolder folder;
  (void)folder.Open();
  ASSERT_EQ(chmod(folder.Path("").c_str(), 0755), 0);
  const auto refused = [&] {
    const auto database = Database::Open(folder.fd(), {});
    ExpectCode(database, Code::kPermissionDenied);
    return !database && database.error().remediation().find("write") != std::string::npos;
  };
  const auto as_nobody = [&] {
    return setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 && refused();
  };
  ASSERT_EQ(chmod(folder.Path(kDatabaseName).c_str(), 0644), 0);
  EXPECT_TRUE(InChild(as_nobody)) << "a file that is only readable";
  ASSERT_EQ(chmod(folder.Path(kDatabaseName).c_str(), 0666), 0);
  EXPECT_TRUE(InChild(as_nobody)) << "a folder that is only readable";
  ASSERT_EQ(unlink(folder.Path(kDatabaseName).c_str()), 0);
  EXPECT_TRUE(InChild(as_nobody)) << "no file, and a folder that is only readable";
}

TEST(Space, TheLimitOfTheFileHoldsAndLeavesTheDatabaseUsable) {
  const DataFolder folder;
  DatabaseOptions options;
  options.connection.size_limit = KiB(450);
  const auto database = folder.Open(options);
  const SandboxId kept = AddSandbox(*database);
  SandboxRecord large = SomeSandbox();
  large.spec.assign(300U << 10U, 'x');
  ASSERT_TRUE(database->InsertSandbox(large, {}, SomeEvent()));
  const std::uint64_t events = *database->NewestEvent();
  SandboxRecord more = SomeSandbox();
  more.spec = large.spec;
  const auto refused = database->InsertSandbox(more, {}, SomeEvent());
  ExpectCode(refused, Code::kResourceExhausted);
  EXPECT_FALSE(refused.error().remediation().empty());
  ExpectCode(database->GetSandbox(more.id), Code::kNotFound);
  EXPECT_EQ(*database->NewestEvent(), events);
  EXPECT_TRUE(database->GetSandbox(kept));
  ASSERT_TRUE(database->ChangeState({.id = large.id, .from = "running", .to = "deleted"}, SomeEvent()));
  ASSERT_EQ(*database->ForgetDeletedSandboxes({}), 1U);
  EXPECT_TRUE(database->InsertSandbox(more, {}, SomeEvent())) << "the room of a forgotten record was not used again";
}

// On a disk of its own, which is full and then is not.
bool WorksAgainAfterAFullDisk(const DataFolder& folder) {
  const auto database = folder.Open();
  const SandboxId kept = AddSandbox(*database);
  const os::Fd filler(openat(folder.fd().get(), "filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string block(4096, 'f');
  while (write(filler.get(), block.data(), block.size()) > 0) {
  }
  Result<std::uint64_t> added = 0;
  for (int i = 0; i < 10'000 && added; ++i) added = database->InsertSandbox(SomeSandbox(), {}, SomeEvent());
  ExpectCode(added, Code::kResourceExhausted);
  EXPECT_TRUE(database->GetSandbox(kept));
  const std::uint64_t events = *database->NewestEvent();
  EXPECT_EQ(ftruncate(filler.get(), 0), 0);
  EXPECT_EQ(database->InsertSandbox(SomeSandbox(), {}, SomeEvent()).value_or(0), events + 1);
  return true;
}

TEST(Space, AFullDiskLeavesTheDatabaseUsable) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to mount a small disk";
  EXPECT_TRUE(InChild([] {
    const std::string place = testing::TempDir();
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", place.c_str(), "tmpfs", 0, "size=2m") != 0) {
      return false;
    }
    const DataFolder folder;
    return WorksAgainAfterAFullDisk(folder);
  }));
}

}  // namespace
}  // namespace caisson::state
