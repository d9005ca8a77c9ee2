#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::rest {

// The parameters of one request, read by name. The first mistake is kept; Finish tells it, or names a parameter that
// nobody asked for. One parameter is given once, but for those that Each reads. A name alone has the value "".
class QueryReader {
 public:
  // `query`: what follows the question mark; a plus means a space, as forms write it. At most 64 parameters.
  explicit QueryReader(std::string_view query);

  std::optional<std::string> Text(std::string_view name);
  std::vector<std::string> Each(std::string_view name);
  // A decimal number without sign. `otherwise`: when it is not given.
  std::uint64_t Count(std::string_view name, std::uint64_t low, std::uint64_t high, std::uint64_t otherwise);
  // "true" or "false". `otherwise`: when it is not given.
  bool Switch(std::string_view name, bool otherwise);
  // Whether it is there at all, as `?list` or `?list=`, which takes no value.
  bool Mentioned(std::string_view name);
  // One of `choices`: its index.
  std::optional<std::size_t> Choice(std::string_view name, const std::vector<std::string_view>& choices);

  // Records a mistake that the caller found in the value of a parameter.
  void Refuse(std::string_view name, std::string_view must);
  Status Finish();

 private:
  struct Parameter {
    std::string name;
    std::string value;
  };
  const Parameter* Find(std::string_view name);
  void Keep(Error error);

  std::vector<Parameter> parameters_;
  std::vector<std::string> known_;
  std::optional<Error> mistake_;
};

}  // namespace caisson::rest
