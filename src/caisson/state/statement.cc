#include "caisson/state/statement.h"

#include <sqlite3.h>

#include <limits>

#include "caisson/state/connection.h"

namespace caisson::state {

Statement::~Statement() { sqlite3_finalize(statement_); }

Query::~Query() {
  sqlite3_reset(statement_.statement_);
  sqlite3_clear_bindings(statement_.statement_);
}

void Query::Remember(int result) {
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

void Query::Bind(std::nullopt_t) { Remember(sqlite3_bind_null(statement_.statement_, ++bound_)); }

void Query::Bind(std::int64_t value) { Remember(sqlite3_bind_int64(statement_.statement_, ++bound_, value)); }

void Query::Bind(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) out_of_range_ = true;
  Bind(static_cast<std::int64_t>(value));
}

// A null pointer would be stored as NULL.
void Query::Bind(std::string_view text) {
  Remember(sqlite3_bind_text64(statement_.statement_, ++bound_, text.empty() ? "" : text.data(), text.size(),
                               SQLITE_TRANSIENT, SQLITE_UTF8));  // NOLINT(performance-no-int-to-ptr)
}

void Query::Bind(Blob blob) {
  Remember(sqlite3_bind_blob64(statement_.statement_, ++bound_, blob.bytes.empty() ? "" : blob.bytes.data(),
                               blob.bytes.size(), SQLITE_TRANSIENT));  // NOLINT(performance-no-int-to-ptr)
}

Result<bool> Query::Next() {
  if (out_of_range_) {
    return Fail(
        Error(Code::kInvalidArgument, "a number is too large for the database").Because("it is above 2^63 - 1"));
  }
  if (bind_result_ != SQLITE_OK) return Fail(statement_.connection_->Failure(bind_result_, "cannot bind a value"));
  const int result = sqlite3_step(statement_.statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return Fail(statement_.connection_->Failure(result, "cannot use the database"));
}

Status Query::Run() {
  bool more = true;
  while (more) {
    CAISSON_TRY(more, Next());
  }
  return {};
}

std::uint64_t Query::Changed() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(sqlite3_db_handle(statement_.statement_)));
}

bool Query::IsNull(int column) const { return sqlite3_column_type(statement_.statement_, column) == SQLITE_NULL; }

void Query::ReadColumn(int column, std::int64_t& value) const {
  value = sqlite3_column_int64(statement_.statement_, column);
}

void Query::ReadColumn(int column, std::uint64_t& value) const {
  value = static_cast<std::uint64_t>(sqlite3_column_int64(statement_.statement_, column));
}

void Query::ReadColumn(int column, std::chrono::milliseconds& value) const {
  value = std::chrono::milliseconds(sqlite3_column_int64(statement_.statement_, column));
}

void Query::ReadColumn(int column, std::string& value) const {
  const void* bytes = sqlite3_column_blob(statement_.statement_, column);
  const int size = sqlite3_column_bytes(statement_.statement_, column);
  value.assign(bytes == nullptr ? "" : static_cast<const char*>(bytes),
               bytes == nullptr ? 0 : static_cast<std::size_t>(size));
}

}  // namespace caisson::state
