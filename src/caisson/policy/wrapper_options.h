#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/shell/shell.h"

namespace caisson::policy {

// The options of a wrapper, as getopt_long reads them when it stops at the first operand.
struct WrapperOptions {
  std::string_view name;
  std::string_view flags;   // letters without a value, or with one that can only be attached
  std::string_view values;  // letters with a value
  std::vector<std::string_view> long_flags;
  std::vector<std::string_view> long_values;
  std::size_t operands = 0;  // before the command
};

struct GivenOption {
  std::string name;   // "n", "adjustment"
  std::string value;  // may be empty
};

struct GivenOptions {
  std::vector<GivenOption> options;
  std::span<const shell::Word> rest;  // from the first operand
  bool Has(std::string_view name) const;
};

// Absent: a word among them is not known, or an option is not in the table.
std::optional<GivenOptions> ReadOptions(const WrapperOptions& grammar, std::span<const shell::Word> arguments);

}  // namespace caisson::policy
