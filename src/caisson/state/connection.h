#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"
#include "caisson/state/folder_vfs.h"
#include "caisson/state/statement.h"

struct sqlite3;

namespace caisson::state {

struct ConnectionOptions {
  Bytes size_limit = GiB(4);                  // of the database file; beyond it a write is kResourceExhausted
  std::chrono::milliseconds busy_wait{2000};  // for another program that has the file
};

// The one connection to a database file, which no other program can use meanwhile. Holds at most 1 MiB of pages; its
// log is cut back to 4 MiB. A committed transaction survives the end of this process, however it ends; the newest ones
// may be lost when the machine loses power, and the file is whole even then. Not thread-safe.
class Connection {
 public:
  // Opens `caisson.db` in `folder`, or makes an empty one, through the descriptor: no path from outside is resolved.
  // What is there stays as it was until Adopt, unless somebody writes. Errors: kInternal for damage, naming the file
  // and the remedy; kPermissionDenied; kUnavailable (another program has it open); kResourceExhausted.
  static Result<std::unique_ptr<Connection>> Open(const os::Fd& folder, const ConnectionOptions& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Looks for damage inside the file: in all of it while it is small, otherwise in `tables`.
  Status Check(std::initializer_list<const char*> tables);
  // Takes the file for ours: from now on commits go to a log, which the end of the connection empties into the file.
  Status Adopt();

  // Moves what the log holds into the file, if that is much: for whom nobody waits, since it takes as long as the disk
  // does. Otherwise a commit does it, when the log holds three times as much.
  Status ShortenLog();

  Result<Statement> Prepare(std::string_view sql) const;
  // Runs statements that give no rows; the text is a constant of the program.
  Status Execute(const std::string& sql);
  // The first column of the only row.
  Result<std::int64_t> Number(std::string_view sql) const;
  Result<std::string> Text(std::string_view sql) const;

  // What `result`, which SQLite just returned on this connection, means: kAlreadyExists (a key is not unique),
  // kNotFound (what a foreign key names), kInvalidArgument (a value the table refuses, or one above 32 MiB),
  // kResourceExhausted (no space, no memory), kPermissionDenied, kUnavailable, kInternal (damage, or the disk fails).
  Error Failure(int result, std::string_view doing) const;
  bool in_transaction() const;
  const std::string& path() const { return path_; }

 private:
  friend class Transaction;
  Connection(os::Fd folder, std::unique_ptr<FolderVfs> vfs);
  Status Configure(const ConnectionOptions& options);
  Status CheckWith(const std::string& pragma) const;
  static int AfterCommit(void* connection, sqlite3* database, const char* name, int log_pages);
  int EmptyLog();

  os::Fd folder_;  // SQLite reaches it by its number
  std::string path_;
  std::unique_ptr<FolderVfs> vfs_;
  sqlite3* database_ = nullptr;
  int log_pages_ = 0;
  // Of Transaction; compiled once, like every statement that runs often.
  Statement begin_;
  Statement commit_;
  Statement roll_back_;
};

// All that is done between Begin and Commit, or nothing: one that ends without Commit is undone. One at a time.
class Transaction {
 public:
  static Result<Transaction> Begin(Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  Status Commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace caisson::state
