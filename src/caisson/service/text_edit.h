#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/base/units.h"

namespace caisson::service {

// Replacing a text in a text. Pure; private to the module.

struct EditedText {
  std::string text;
  std::uint64_t line = 1;  // in which the first place began
};

// The largest text that comes out.
inline constexpr Bytes kMostEdited = MiB(16);

// `old_text`, which is not empty, stands in `text` exactly `count` times without overlap, and each becomes `new_text`.
// Errors: kNotFound when it is not there; kConflict when it is there another number of times, naming the lines;
// kInvalidArgument for more than kMostEdited.
Result<EditedText> Replaced(std::string_view text, std::string_view old_text, std::string_view new_text,
                            std::uint32_t count);

}  // namespace caisson::service
