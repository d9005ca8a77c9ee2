#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::document {

// A configuration file, TOML 1.0 or JSON (RFC 8259), as values that know where they stand.

enum class Format : std::uint8_t { kToml, kJson };

struct Place {
  std::uint32_t line = 0;    // from 1
  std::uint32_t column = 0;  // from 1, in characters
  auto operator<=>(const Place&) const = default;
};

using Time = std::chrono::sys_time<std::chrono::milliseconds>;

class Value;
using Array = std::vector<Value>;
using Table = std::vector<std::pair<std::string, Value>>;  // in the file's order, no name twice

class Value {
 public:
  // A date or time without an offset from UTC is none of these: it is refused when the file is read.
  using Content = std::variant<bool, std::int64_t, double, std::string, Time, Array, Table>;
  Value(Content content, Place place, Place key_place)
      : content_(std::move(content)), place_(place), key_place_(key_place) {}
  const Content& content() const { return content_; }
  const Place& place() const { return place_; }
  const Place& key_place() const { return key_place_; }  // of its name in a table; without one as place()

 private:
  Content content_;
  Place place_;
  Place key_place_;
};

inline constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kMostDepth = 32;  // of tables and arrays inside each other, the whole included
inline constexpr std::size_t kMostValues = 1'000'000;

// `name`: of the file, for messages. The whole is a table. Takes time linear in the text, and memory of at most some
// hundred bytes a value. Errors: kInvalidArgument as "NAME:LINE:COLUMN: what", for what the format does not allow, a
// byte order mark, a zero byte, text that is not UTF-8, a name twice in a table, JSON's null, a number that fits
// neither 64 bits nor a double, a time without an offset, and more than kMostBytes, kMostDepth or kMostValues.
Result<Value> Read(std::string_view text, Format format, std::string_view name);

// Reads one table key by key. Mistakes are kept; Finish tells the one that stands first, or a key that nobody asked for
// with the nearest known one. A table inside is read by a reader of its own, which keeps its mistakes in the outer one
// and is to be finished before it. Values are borrowed.
class TableReader {
 public:
  // `file`: for messages.
  TableReader(const Value& table, std::string_view file);

  std::optional<std::string> Text(std::string_view key);
  std::optional<bool> Switch(std::string_view key);
  std::optional<std::int64_t> Whole(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<double> Number(std::string_view key, double low, double high);  // a whole number too
  std::optional<Time> Moment(std::string_view key);  // in JSON, and in TOML as a text: RFC 3339 with an offset
  std::optional<std::size_t> Choice(std::string_view key, const std::vector<std::string_view>& choices);
  // Of a single text, an array with it when `also_one`.
  enum class One : std::uint8_t { kRefused, kTaken };
  std::vector<std::string> Texts(std::string_view key, One one = One::kRefused);  // empty: also when absent
  std::vector<TableReader> Tables(std::string_view key);                          // an array of tables
  std::optional<TableReader> SubTable(std::string_view key);
  // For keys that the caller reads by itself: the value, and the key counts as known.
  const Value* Any(std::string_view key);
  // The keys that were not asked for so far, in the file's order: of a table whose keys are the user's names.
  std::vector<std::string> RemainingKeys() const;
  bool Has(std::string_view key) const;

  // Where a key's value stands, or the table when there is no such key; "policy.toml:14".
  std::string PlaceOf(std::string_view key) const;
  std::string place() const;
  // Records a mistake that the caller found in the value of `key`: "NAME:LINE:COLUMN: 'key' must ...".
  void Refuse(std::string_view key, std::string_view must);
  // The first mistake of this table and those around and inside it, in the file's order.
  Status Finish();
  // All of them, at most kMostMistakes, in the file's order. After Finish of every reader.
  std::vector<Error> AllMistakes() const;
  static constexpr std::size_t kMostMistakes = 100;

 private:
  struct Mistakes;
  TableReader(const Value& value, std::shared_ptr<Mistakes> mistakes);
  const Value* Find(std::string_view key);
  const Value* Peek(std::string_view key) const;
  void RefuseAt(const Place& place, std::string_view key, std::string_view must);

  const Value* value_;
  const Table* table_ = nullptr;  // of the value; nullptr: it is none
  std::map<std::string_view, const Value*> by_name_;
  std::set<std::string, std::less<>> known_;
  std::shared_ptr<Mistakes> mistakes_;  // shared by the readers of one file
};

}  // namespace caisson::document
