#include "caisson/state/connection.h"

#include <sqlite3.h>

#include <cerrno>
#include <system_error>

#include "caisson/state/database_file.h"

namespace caisson::state {
namespace {

// Of a text or blob; nothing that the node records comes near.
constexpr int kLargestValue = 32 << 20;
// A file up to here is read within a moment.
constexpr std::int64_t kSmallFile = 8 << 20;

// Pages in the log.
constexpr int kMuchLog = 500;
constexpr int kMostLog = 1500;

constexpr const char* kSettings[] = {
    // The index of the log is then memory of this process, not a shared mapping that another could cut short.
    "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = NORMAL", "PRAGMA journal_size_limit = 4194304",
    "PRAGMA cache_size = -1024",       "PRAGMA mmap_size = 0",        "PRAGMA temp_store = MEMORY",
    "PRAGMA secure_delete = FAST",     "PRAGMA cell_size_check = ON",
};

bool IsFullDisk(int errno_value) { return errno_value == ENOSPC || errno_value == EDQUOT; }

Error NoSpace(const std::string& path, std::string cause) {
  return Error(Code::kResourceExhausted, "the database " + path + " has no room for more")
      .Because(std::move(cause))
      .Remedy("free space on the disk of the data folder, for example with caisson prune");
}

Code CodeOfConstraint(int result) {
  switch (result) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
      return Code::kAlreadyExists;
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return Code::kNotFound;
    default:
      return Code::kInvalidArgument;
  }
}

}  // namespace

Connection::Connection(os::Fd folder, std::unique_ptr<FolderVfs> vfs)
    : folder_(std::move(folder)), path_(os::PathOf(folder_) + "/" + kDatabaseName), vfs_(std::move(vfs)) {}

Connection::~Connection() {
  for (Statement* statement : {&begin_, &commit_, &roll_back_}) *statement = Statement();
  sqlite3_close(database_);
}

Result<std::unique_ptr<Connection>> Connection::Open(const os::Fd& folder, const ConnectionOptions& options) {
  CAISSON_TRY(os::Fd own, folder.Duplicate());
  CAISSON_CHECK_OK(PrepareDatabaseFile(own));
  CAISSON_TRY(auto vfs, FolderVfs::Make());
  std::unique_ptr<Connection> connection(new Connection(std::move(own), std::move(vfs)));
  const std::string path = "/proc/self/fd/" + std::to_string(connection->folder_.get()) + "/" + kDatabaseName;
  const int result =
      sqlite3_open_v2(path.c_str(), &connection->database_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, connection->vfs_->name());
  if (result != SQLITE_OK) return Fail(connection->Failure(result, "cannot open the database"));
  CAISSON_CHECK_OK(connection->Configure(options));
  return connection;
}

Status Connection::Configure(const ConnectionOptions& options) {
  // SQLite falls back to reading only where it may not write.
  if (sqlite3_db_readonly(database_, "main") != 0) {
    return Fail(Error(Code::kPermissionDenied, "cannot write to the database " + path_)
                    .Because("the file or its file system is read-only for the user of the daemon")
                    .Remedy("let that user write to the data folder and all in it"));
  }
  struct Setting {
    int what;
    int value;
  };
  for (const Setting& setting : {Setting{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                 {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                 {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
                                 {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                 {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                 {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                 {SQLITE_DBCONFIG_DQS_DDL, 0},
                                 {SQLITE_DBCONFIG_DQS_DML, 0},
                                 {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1}}) {
    const int result = sqlite3_db_config(database_, setting.what, setting.value, nullptr);
    if (result != SQLITE_OK) return Fail(Failure(result, "cannot configure the database"));
  }
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, kLargestValue);
  sqlite3_limit(database_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_wal_hook(database_, AfterCommit, this);
  sqlite3_busy_timeout(database_, static_cast<int>(options.busy_wait.count()));
  for (const char* setting : kSettings) CAISSON_CHECK_OK(Execute(setting));
  CAISSON_TRY(const std::int64_t page_size, Number("PRAGMA page_size"));
  const auto pages = static_cast<std::int64_t>(options.size_limit.value) / page_size;
  CAISSON_CHECK_OK(Execute("PRAGMA max_page_count = " + std::to_string(pages)));
  CAISSON_TRY(begin_, Prepare("BEGIN IMMEDIATE"));
  CAISSON_TRY(commit_, Prepare("COMMIT"));
  CAISSON_TRY(roll_back_, Prepare("ROLLBACK"));
  return {};
}

Status Connection::Check(std::initializer_list<const char*> tables) {
  CAISSON_TRY(const std::int64_t size,
              Number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"));
  if (size <= kSmallFile) return CheckWith("PRAGMA quick_check(1)");
  for (const char* table : tables) CAISSON_CHECK_OK(CheckWith(std::string("PRAGMA quick_check(") + table + ")"));
  return {};
}

Status Connection::CheckWith(const std::string& pragma) const {
  auto found = Text(pragma);
  if (!found) return Fail(std::move(found).error());
  if (*found != std::string_view("ok")) return Fail(DamagedFile(path_, *found));
  return {};
}

Status Connection::Adopt() {
  auto journal = Text("PRAGMA journal_mode = WAL");
  if (!journal) return Fail(std::move(journal).error());
  if (*journal != std::string_view("wal")) {
    return Fail(Error(Code::kInternal, "the database " + path_ + " cannot use a write-ahead log"));
  }
  const int result = sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  if (result != SQLITE_OK) return Fail(Failure(result, "cannot configure the database"));
  return {};
}

int Connection::AfterCommit(void* connection, sqlite3* /*database*/, const char* /*name*/, int log_pages) {
  Connection& self = *static_cast<Connection*>(connection);
  self.log_pages_ = log_pages;
  // What cannot be done now is done after another commit.
  if (log_pages >= kMostLog) (void)self.EmptyLog();
  return SQLITE_OK;
}

int Connection::EmptyLog() {
  const int result = sqlite3_wal_checkpoint_v2(database_, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (result == SQLITE_OK) log_pages_ = 0;
  return result;
}

Status Connection::ShortenLog() {
  if (log_pages_ < kMuchLog) return {};
  const int result = EmptyLog();
  if (result != SQLITE_OK) return Fail(Failure(result, "cannot empty the log of"));
  return {};
}

Result<Statement> Connection::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
  if (result != SQLITE_OK) return Fail(Failure(result, "cannot prepare a statement"));
  return Statement(*this, statement);
}

Status Connection::Execute(const std::string& sql) {
  const int result = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return Fail(Failure(result, "cannot use the database"));
  return {};
}

Result<std::int64_t> Connection::Number(std::string_view sql) const {
  CAISSON_TRY(Statement statement, Prepare(sql));
  Query query(statement);
  std::int64_t value = 0;
  CAISSON_TRY(const bool found, query.Next());
  if (found) query.Read(value);
  return value;
}

Result<std::string> Connection::Text(std::string_view sql) const {
  CAISSON_TRY(Statement statement, Prepare(sql));
  Query query(statement);
  std::string value;
  CAISSON_TRY(const bool found, query.Next());
  if (found) query.Read(value);
  return value;
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(database_) == 0; }

Error Connection::Failure(int result, std::string_view doing) const {
  const std::string what = std::string(doing) + " " + path_;
  const std::string why = sqlite3_errmsg(database_);
  const int os_error = sqlite3_system_errno(database_);
  switch (result & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DamagedFile(path_, why);
    case SQLITE_FULL:
      return NoSpace(path_, why);
    case SQLITE_NOMEM:
      return Error(Code::kResourceExhausted, what).Because("there is not enough memory");
    case SQLITE_IOERR:
      if (IsFullDisk(os_error)) return NoSpace(path_, std::generic_category().message(os_error));
      return Error(Code::kInternal, what).Because(why + ": " + std::generic_category().message(os_error));
    case SQLITE_CANTOPEN:
      if (IsFullDisk(os_error)) return NoSpace(path_, std::generic_category().message(os_error));
      if (os_error != 0)
        return Error::FromErrno(os_error, what).Remedy("let the user of the daemon write to this folder");
      return Error(Code::kInternal, what).Because(why);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Error(Code::kPermissionDenied, what)
          .Because(why)
          .Remedy("let the user of the daemon write to this folder");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(Code::kUnavailable, what)
          .Because("another program has it open")
          .Remedy("end that program and try again")
          .Retryable();
    case SQLITE_CONSTRAINT:
      return Error(CodeOfConstraint(result), "the database refuses a record").Because(why);
    case SQLITE_TOOBIG:
      return Error(Code::kInvalidArgument, "the database refuses a record").Because(why);
    default:
      return Error(Code::kInternal, what).Because(why);
  }
}

Result<Transaction> Transaction::Begin(Connection& connection) {
  CAISSON_CHECK_OK(Query(connection.begin_).Run());
  return Transaction(connection);
}

Status Transaction::Commit() {
  CAISSON_CHECK_OK(Query(connection_->commit_).Run());
  connection_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  // Some failures have undone it already.
  if (connection_ != nullptr && connection_->in_transaction()) (void)Query(connection_->roll_back_).Run();
}

}  // namespace caisson::state
