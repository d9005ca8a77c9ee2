#include "caisson/state/migration.h"

#include <array>
#include <string>

namespace caisson::state {
namespace {

// Marks a file as ours, so that another program's is not taken for one of ours. Its bytes spell CSN1.
constexpr std::int64_t kApplicationId = 0x43534e31;

// A change of a row writes all of it. The specification, which may be large and never changes, has a row of its own.
constexpr const char* kSandboxes = R"sql(
CREATE TABLE sandboxes (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 29),
  name TEXT,
  state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'pausing', 'paused', 'resuming', 'stopping', 'stopped',
                                       'failed', 'deleted')),
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  deadline_at INTEGER,
  expires_at INTEGER,
  idle_timeout_ms INTEGER,
  used_lifetime_ms INTEGER NOT NULL,
  last_active_at INTEGER NOT NULL,
  last_step INTEGER NOT NULL CHECK (last_step >= 0),
  launcher BLOB NOT NULL,
  on_end TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX sandboxes_by_name ON sandboxes (name) WHERE state <> 'deleted';
CREATE INDEX sandboxes_by_creation ON sandboxes (created_at, id);
CREATE INDEX sandboxes_by_state ON sandboxes (state, created_at, id);
CREATE INDEX sandboxes_deleted ON sandboxes (changed_at) WHERE state = 'deleted';
CREATE TABLE sandbox_specs (
  number INTEGER PRIMARY KEY,
  sandbox TEXT NOT NULL UNIQUE REFERENCES sandboxes (id) ON DELETE CASCADE,
  spec BLOB NOT NULL
) STRICT;
CREATE TABLE sandbox_labels (
  sandbox TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (sandbox, key)
) STRICT, WITHOUT ROWID;
)sql";

// The large columns come last: reading those before them does not touch their pages.
constexpr const char* kCommands = R"sql(
CREATE TABLE commands (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 64),
  sandbox TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  step INTEGER NOT NULL CHECK (step > 0),
  state TEXT NOT NULL CHECK (state IN ('starting', 'running', 'ended')),
  started_at INTEGER NOT NULL,
  ended_at INTEGER CHECK ((ended_at IS NOT NULL) = (state = 'ended')),
  timeout_ms INTEGER NOT NULL,
  stdout_bytes INTEGER NOT NULL,
  stderr_bytes INTEGER NOT NULL,
  handle BLOB NOT NULL,
  summary BLOB NOT NULL,
  spec BLOB NOT NULL,
  result BLOB
) STRICT;
CREATE UNIQUE INDEX commands_by_step ON commands (sandbox, step);
CREATE INDEX commands_not_ended ON commands (sandbox, step) WHERE state <> 'ended';
CREATE INDEX commands_by_end ON commands (ended_at) WHERE ended_at IS NOT NULL;
)sql";

constexpr const char* kEvents = R"sql(
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  type TEXT NOT NULL,
  sandbox TEXT NOT NULL,
  command TEXT NOT NULL,
  caller TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
)sql";

// No foreign key: a key outlives the record of its sandbox.
constexpr const char* kIdempotency = R"sql(
CREATE TABLE idempotency_keys (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  request_sha256 BLOB NOT NULL CHECK (length(request_sha256) = 32),
  sandbox TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (caller, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
)sql";

// A time of day is no measure of a lifetime: it can be set.
constexpr const char* kLifetimes = R"sql(
ALTER TABLE sandboxes ADD COLUMN running_since_ms INTEGER;
)sql";

// What the output of commands that have ended takes, which changes when it is removed: the command's own row has its
// result beside it. Of older rows nobody knows how much of the output is kept; the most it can be is near enough.
constexpr const char* kSpools = R"sql(
CREATE TABLE spools (
  command TEXT PRIMARY KEY NOT NULL REFERENCES commands (id) ON DELETE CASCADE,
  ended_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes > 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX spools_by_end ON spools (ended_at, command, bytes);
INSERT INTO spools (command, ended_at, bytes)
  SELECT id, ended_at, min(stdout_bytes, 68157440) + min(stderr_bytes, 68157440) FROM commands
  WHERE ended_at IS NOT NULL AND stdout_bytes + stderr_bytes > 0;
)sql";

// A sandbox that was not made gives its key back.
constexpr const char* kKeysOfSandboxes = R"sql(
CREATE INDEX idempotency_keys_by_sandbox ON idempotency_keys (sandbox);
)sql";

// The policy of a sandbox can change, and its text is long: a list reads what stands before it. Uses outlive a change
// of the policy: back under an older one, what was used of it counts.
constexpr const char* kPolicies = R"sql(
CREATE TABLE sandbox_policies (
  sandbox TEXT PRIMARY KEY NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('toml', 'json', 'preset')),
  text BLOB NOT NULL
) STRICT;
CREATE TABLE rule_uses (
  sandbox TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
  policy TEXT NOT NULL,
  rule TEXT NOT NULL,
  used INTEGER NOT NULL CHECK (used > 0),
  PRIMARY KEY (sandbox, policy, rule)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array<Migration, 8> kAll = {
    {{kSandboxes}, {kCommands}, {kEvents}, {kIdempotency}, {kLifetimes}, {kSpools}, {kKeysOfSandboxes}, {kPolicies}}};

}  // namespace

std::span<const Migration> AllMigrations() { return kAll; }

Result<std::size_t> VersionOf(Connection& connection, std::span<const Migration> steps) {
  CAISSON_TRY(const std::int64_t version, connection.Number("PRAGMA user_version"));
  CAISSON_TRY(const std::int64_t application, connection.Number("PRAGMA application_id"));
  CAISSON_TRY(const std::int64_t entries, connection.Number("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = version == 0 && application == 0 && entries == 0;
  if (!is_new && (application != kApplicationId || version <= 0)) {
    return Fail(Error(Code::kUnsupported, "the file " + connection.path() + " is not a database of Caisson")
                    .Because("it is marked as another program's")
                    .Remedy("move it out of the folder; the daemon then makes one"));
  }
  if (version > static_cast<std::int64_t>(steps.size())) {
    return Fail(Error(Code::kUnsupported, "the database " + connection.path() + " was written by a newer Caisson")
                    .Because("its tables have version " + std::to_string(version) +
                             ", and this program knows version " + std::to_string(steps.size()) + " and older")
                    .Remedy("start the newer program, or put back the copy of the database that was made before it"));
  }
  return static_cast<std::size_t>(version);
}

Status Migrate(Connection& connection, std::span<const Migration> steps) {
  CAISSON_TRY(const std::size_t version, VersionOf(connection, steps));
  for (std::size_t next = version; next < steps.size(); ++next) {
    const std::string doing = "bringing the tables to version " + std::to_string(next + 1);
    CAISSON_TRY(Transaction transaction, Transaction::Begin(connection));
    if (auto done = connection.Execute(steps[next].sql); !done) {
      return Fail(std::move(done).error().Context(doing));
    }
    CAISSON_CHECK_OK(connection.Execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
    CAISSON_CHECK_OK(connection.Execute("PRAGMA user_version = " + std::to_string(next + 1)));
    CAISSON_CHECK_OK(transaction.Commit());
  }
  return {};
}

}  // namespace caisson::state
