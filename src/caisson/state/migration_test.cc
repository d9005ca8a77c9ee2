#include "caisson/state/migration.h"

#include <array>

#include "caisson/state/data_folder.h"
#include "caisson/state/database_file.h"

namespace caisson::state {
namespace {

std::unique_ptr<Connection> Connect(const DataFolder& folder) {
  auto connection = Connection::Open(folder.fd(), {});
  if (connection) return std::move(*connection);
  ADD_FAILURE() << Words(connection.error());
  return nullptr;
}

constexpr const char* kSandboxId = "sb_aaaaaaaaaaaaaaaaaaaaaaaaaa";

// Rows as a program of each version wrote them: what version N + 1 of the tables finds.
constexpr std::array<const char*, 8> kRowsOfVersion = {
    R"sql(
      INSERT INTO sandboxes (id, name, state, reason, created_at, changed_at, idle_timeout_ms, used_lifetime_ms,
                             last_active_at, last_step, launcher, on_end)
        VALUES ('sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'old', 'running', '', 5, 6, 1000, 0, 7, 0, x'', 'keep');
      INSERT INTO sandbox_specs (sandbox, spec) VALUES ('sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', x'01');
      INSERT INTO sandbox_labels (sandbox, key, value) VALUES ('sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'k', 'v'))sql",
    R"sql(
      INSERT INTO commands (id, sandbox, step, state, started_at, timeout_ms, stdout_bytes, stderr_bytes, handle, summary,
                            spec)
        VALUES ('cm_old', 'sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 1, 'running', 8, 30000, 0, 0, x'02', x'', x'03');
      UPDATE sandboxes SET last_step = 1)sql",
    R"sql(
      INSERT INTO events (time, type, sandbox, command, caller, detail)
        VALUES (9, 'command.running', '', '', '', 'old'))sql",
    R"sql(
      INSERT INTO idempotency_keys (caller, key, request_sha256, sandbox, created_at)
        VALUES ('uid 0', 'old', zeroblob(32), 'sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 10);
      INSERT INTO commands (id, sandbox, step, state, started_at, ended_at, timeout_ms, stdout_bytes, stderr_bytes, handle,
                            summary, spec)
        VALUES ('cm_short', 'sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 1001, 'ended', 8, 9, 30000, 5, 7, x'', x'', x''),
               ('cm_long', 'sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 1002, 'ended', 8, 8, 30000, 10000000000, 0, x'', x'', x''),
               ('cm_silent', 'sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 1003, 'ended', 8, 8, 30000, 0, 0, x'', x'', x''))sql",
    R"sql(
      UPDATE sandboxes SET running_since_ms = 11)sql",
    R"sql(
      UPDATE spools SET bytes = 3 WHERE command = 'cm_short')sql",
    R"sql(
      INSERT INTO idempotency_keys (caller, key, request_sha256, sandbox, created_at)
        VALUES ('uid 0', 'second', zeroblob(32), 'sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 10))sql",
    R"sql(
      INSERT INTO sandbox_policies (sandbox, name, digest, format, text)
        VALUES ('sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'minimal', 'ab', 'preset', x'04');
      INSERT INTO rule_uses (sandbox, policy, rule, used) VALUES ('sb_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'ab', 'once', 3))sql",
};

TEST(Migration, EveryVersionHasRowsHere) { EXPECT_EQ(kRowsOfVersion.size(), AllMigrations().size()); }

class OlderDatabase : public testing::TestWithParam<std::size_t> {};

TEST_P(OlderDatabase, KeepsWhatItHeld) {
  const std::size_t version = GetParam();
  const DataFolder folder;
  {
    const auto connection = Connect(folder);
    ASSERT_NE(connection, nullptr);
    ASSERT_TRUE(connection->Adopt());
    for (std::size_t step = 0; step < version; ++step) {
      const auto done = Migrate(*connection, AllMigrations().first(step + 1));
      ASSERT_TRUE(done) << Words(done.error());
      const auto filled = connection->Execute(kRowsOfVersion.at(step));
      ASSERT_TRUE(filled) << Words(filled.error());
    }
    EXPECT_EQ(*VersionOf(*connection, AllMigrations()), version);
  }
  const auto database = folder.Open();
  ASSERT_NE(database, nullptr);
  const auto sandbox = database->FindSandbox("old");
  ASSERT_TRUE(sandbox) << Words(sandbox.error());
  EXPECT_EQ(sandbox->has_value(), version >= 1);
  if (*sandbox) {
    EXPECT_EQ((*sandbox)->id.text(), kSandboxId);
    EXPECT_EQ((*sandbox)->labels.at("k"), "v");
    EXPECT_EQ((*sandbox)->spec, "\x01");
    EXPECT_EQ((*sandbox)->idle_timeout, std::chrono::seconds(1));
    EXPECT_EQ((*sandbox)->running_since.has_value(), version >= 5);
    EXPECT_EQ((*sandbox)->policy.has_value(), version >= 8);
    EXPECT_EQ(*database->RuleUses((*sandbox)->id, "ab", "once"), version >= 8 ? 3U : 0U);
    const auto step = database->InsertCommand(SomeCommand((*sandbox)->id, "cm_new"), "running");
    ASSERT_TRUE(step) << Words(step.error());
    EXPECT_EQ(*step, version >= 2 ? 2U : 1U);
  }
  EXPECT_EQ(database->GetCommand("cm_old").has_value(), version >= 2);
  EXPECT_EQ(*database->NewestEvent(), version >= 3 ? 1U : 0U);
  EXPECT_EQ(database->FindIdempotencyKey("uid 0", "old")->has_value(), version >= 4);
  const auto spools = database->OldestSpools(10);
  ASSERT_TRUE(spools) << Words(spools.error());
  ASSERT_EQ(spools->size(), version >= 4 ? 2U : 0U);
  if (version < 4) return;
  EXPECT_EQ(spools->front().command, "cm_long");
  EXPECT_EQ(spools->front().bytes, MiB(65).value) << "a spool keeps no more";
  EXPECT_EQ(spools->back().bytes, version < 6 ? 12U : 3U);
}

INSTANTIATE_TEST_SUITE_P(EachVersion, OlderDatabase, testing::Range<std::size_t>(0, kRowsOfVersion.size() + 1));

TEST(Migration, ANewerDatabaseIsRefusedAndLeftAlone) {
  const DataFolder folder;
  (void)folder.Open();
  {
    const auto connection = Connect(folder);
    ASSERT_TRUE(connection->Execute("PRAGMA user_version = 12345"));
    ASSERT_TRUE(connection->Adopt());
  }
  const std::string before = folder.Read(kDatabaseName);
  const auto refused = Database::Open(folder.fd(), {});
  ExpectCode(refused, Code::kUnsupported);
  const std::string words = Words(refused.error());
  EXPECT_NE(words.find("12345"), std::string::npos) << words;
  EXPECT_NE(words.find("version " + std::to_string(AllMigrations().size())), std::string::npos) << words;
  EXPECT_FALSE(refused.error().remediation().empty());
  EXPECT_EQ(folder.Read(kDatabaseName), before);
}

TEST(Migration, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  for (const char* sql : {"CREATE TABLE theirs (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"}) {
    const DataFolder folder;
    {
      const auto connection = Connect(folder);
      ASSERT_TRUE(connection->Execute(sql));
    }
    const std::string before = folder.Read(kDatabaseName);
    ExpectCode(Database::Open(folder.fd(), {}), Code::kUnsupported);
    EXPECT_EQ(folder.Read(kDatabaseName), before) << sql;
  }
}

TEST(Migration, AFailedStepLeavesTheVersionBeforeIt) {
  const DataFolder folder;
  const auto connection = Connect(folder);
  ASSERT_NE(connection, nullptr);
  const std::array<Migration, 3> steps = {{{"CREATE TABLE one (x)"},
                                           {"CREATE TABLE two (x); INSERT INTO one VALUES (1); CREATE TABLE one (x)"},
                                           {"CREATE TABLE three (x)"}}};
  const auto failed = Migrate(*connection, steps);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("version 2"), std::string::npos) << Words(failed.error());
  EXPECT_EQ(*VersionOf(*connection, steps), 1U);
  EXPECT_EQ(*connection->Number("SELECT count(*) FROM sqlite_schema"), 1);
  EXPECT_EQ(*connection->Number("SELECT count(*) FROM one"), 0);
  const std::array<Migration, 2> repaired = {{steps[0], {"CREATE TABLE two (x)"}}};
  EXPECT_TRUE(Migrate(*connection, repaired));
  EXPECT_EQ(*VersionOf(*connection, repaired), 2U);
}

TEST(Connection, HasItsSettings) {
  const DataFolder folder;
  const auto connection = Connect(folder);
  ASSERT_NE(connection, nullptr);
  ASSERT_TRUE(connection->Adopt());
  EXPECT_EQ(*connection->Text("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(*connection->Text("PRAGMA locking_mode"), "exclusive");
  EXPECT_EQ(*connection->Number("PRAGMA synchronous"), 1);
  EXPECT_EQ(*connection->Number("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(*connection->Number("PRAGMA trusted_schema"), 0);
  EXPECT_EQ(*connection->Number("PRAGMA cache_size"), -1024);
  EXPECT_EQ(*connection->Number("PRAGMA temp_store"), 2);
  EXPECT_EQ(*connection->Number("PRAGMA journal_size_limit"), 4 << 20);
  // Defensive: neither the schema nor the journal can be taken away by a statement.
  ASSERT_TRUE(connection->Execute("CREATE TABLE t (x)"));
  (void)connection->Execute("PRAGMA writable_schema = ON");
  EXPECT_FALSE(connection->Execute("DELETE FROM sqlite_schema"));
  (void)connection->Execute("PRAGMA journal_mode = OFF");
  EXPECT_EQ(*connection->Text("PRAGMA journal_mode"), "wal");
  EXPECT_FALSE(connection->Execute("ATTACH ':memory:' AS other"));
  EXPECT_FALSE(connection->Execute("SELECT \"no such column\" FROM t"));
}

}  // namespace
}  // namespace caisson::state
