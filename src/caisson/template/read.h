#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/template/template.h"

namespace caisson::templates {

// Understands the text of a `caisson.toml`; touches nothing outside. Strict: an unknown key, a value of another kind or
// out of range, a `version` other than 1.

struct Reading {
  std::optional<Template> content;  // when there is no mistake
  std::vector<Error> mistakes;      // in the file's order; kInvalidArgument as "FILE:LINE:COLUMN: what"
};

// `file`: for messages and sources.
Reading ReadWithMistakes(std::string_view text, std::string_view file);

// The same; the error is the first mistake.
Result<Template> Read(std::string_view text, std::string_view file);

inline constexpr std::size_t kMostTools = 100;
inline constexpr std::size_t kMostSecrets = 100;
inline constexpr std::size_t kMostPackages = 1000;

}  // namespace caisson::templates
