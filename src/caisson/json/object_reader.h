#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"

namespace boost::json {
class object;
class value;
}  // namespace boost::json

namespace caisson::json {

// Reads one object of a request, field by field. A field that is null is a mistake: what is not meant is left out. The
// first mistake is kept, with the JSON pointer (RFC 6901) of its field as the detail `pointer`; Finish tells it, or
// names a field that nobody asked for. An object inside is read by a reader of its own, which keeps its mistake in the
// outer one. The value is borrowed.
class ObjectReader {
 public:
  // Keeps a mistake when `value` is no object.
  explicit ObjectReader(const boost::json::value& value);

  // At most `most` characters (code points), without a zero byte.
  std::optional<std::string> Text(std::string_view name, std::size_t most);
  // The same, but any text.
  std::optional<std::string> AnyText(std::string_view name, std::size_t most);
  // A whole number; also written as 2.0 or 2e3, up to 2^53.
  std::optional<std::uint64_t> Count(std::string_view name, std::uint64_t low, std::uint64_t high);
  std::optional<double> Number(std::string_view name, double low, double high);
  std::optional<std::chrono::milliseconds> Milliseconds(std::string_view name, std::chrono::milliseconds low,
                                                        std::chrono::milliseconds high);
  std::optional<bool> Switch(std::string_view name);
  // One of `choices`: its index.
  std::optional<std::size_t> Choice(std::string_view name, const std::vector<std::string_view>& choices);
  std::vector<std::string> Texts(std::string_view name, std::size_t most_entries, std::size_t most);
  // An object whose values are texts, in its order. A name has 1 to 255 characters, no '=' and no zero byte.
  std::vector<std::pair<std::string, std::string>> Pairs(std::string_view name, std::size_t most_entries,
                                                         std::size_t most);
  // A reader that is to be finished before this one.
  std::optional<ObjectReader> Object(std::string_view name);

  // Whether it is there, whatever it holds.
  bool Has(std::string_view name) const;
  // Whether `name` holds a text rather than an object; false when it is absent.
  bool IsText(std::string_view name) const;
  // Records a mistake that the caller found: "the field '/name' must ...".
  void Refuse(std::string_view name, std::string_view must);
  Status Finish();

 private:
  ObjectReader(const boost::json::object* object, std::string pointer, std::shared_ptr<std::optional<Error>> mistake);
  const boost::json::value* Find(std::string_view name);
  void RefuseAt(const std::string& pointer, std::string_view must);
  std::string PointerOf(std::string_view name) const;

  const boost::json::object* object_ = nullptr;
  std::string pointer_;
  std::vector<std::string> known_;
  std::shared_ptr<std::optional<Error>> mistake_;  // shared with the readers of the objects inside
};

// Parses a body, reads it with `read(ObjectReader&)` and finishes: what `read` made, or the first mistake.
Status ReadObject(std::string_view body, const std::function<void(ObjectReader&)>& read);

}  // namespace caisson::json
