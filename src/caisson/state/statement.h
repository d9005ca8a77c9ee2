#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "caisson/base/result.h"

struct sqlite3_stmt;

namespace caisson::state {

class Connection;

// One SQL statement, compiled once and run often. Move-only; it ends before its connection. Not thread-safe.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept
      : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(connection_, other.connection_);
    std::swap(statement_, other.statement_);
    return *this;
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

 private:
  friend class Connection;
  friend class Query;
  Statement(const Connection& connection, sqlite3_stmt* statement) : connection_(&connection), statement_(statement) {}

  const Connection* connection_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

// Bytes that are stored as they are, where a std::string_view is stored as text.
struct Blob {
  std::string_view bytes;
};

// One run of a statement: binds the values in their order (they are copied), steps through rows, and leaves the
// statement ready for its next run. One at a time for each statement.
class Query {
 public:
  template <typename... Values>
  explicit Query(Statement& statement, const Values&... values) : statement_(statement) {
    (Bind(values), ...);
  }
  // Binds one value more.
  template <typename Value>
  void Also(const Value& value) {
    Bind(value);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // True when there is a row to read, false after the last. Errors: those of Connection::Failure; kInvalidArgument for
  // a number above 2^63 - 1.
  Result<bool> Next();
  // To the end; for what gives no rows, or rows that nobody wants.
  Status Run();
  // How many rows the statement inserted, updated or deleted, those that went with them by a foreign key left out.
  std::uint64_t Changed() const;

  // The columns of the present row, from the first.
  template <typename... Values>
  void Read(Values&... values) const {
    int column = 0;
    (ReadColumn(column++, values), ...);
  }

 private:
  void Bind(std::nullopt_t);
  void Bind(std::int64_t value);
  void Bind(std::uint64_t value);
  void Bind(std::string_view text);
  void Bind(Blob blob);
  void Bind(std::chrono::milliseconds value) { Bind(static_cast<std::int64_t>(value.count())); }
  template <typename T>
  void Bind(const std::optional<T>& value) {
    if (value) {
      Bind(*value);
    } else {
      Bind(std::nullopt);
    }
  }
  void Remember(int result);

  bool IsNull(int column) const;
  void ReadColumn(int column, std::int64_t& value) const;
  void ReadColumn(int column, std::uint64_t& value) const;
  void ReadColumn(int column, std::string& value) const;
  void ReadColumn(int column, std::chrono::milliseconds& value) const;
  template <typename T>
  void ReadColumn(int column, std::optional<T>& value) const {
    value.reset();
    if (!IsNull(column)) ReadColumn(column, value.emplace());
  }

  Statement& statement_;
  int bound_ = 0;
  int bind_result_ = 0;
  bool out_of_range_ = false;
};

}  // namespace caisson::state
