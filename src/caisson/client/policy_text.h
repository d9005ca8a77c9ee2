#pragma once

#include <optional>
#include <string>

#include "caisson/base/result.h"

namespace boost::json {
class object;
}  // namespace boost::json

namespace caisson::client {

// A policy: a preset by its name, or a text.
struct PolicyText {
  std::optional<std::string> preset = {};
  std::string text = {};
  std::string format = "toml";  // or "json"
  std::string name = {};        // of the file, as decisions show it
};

// As requests hold it. Errors: kInvalidArgument for what is no UTF-8.
Result<boost::json::object> ObjectOf(const PolicyText& policy);

}  // namespace caisson::client
