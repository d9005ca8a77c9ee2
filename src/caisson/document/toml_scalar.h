#pragma once

#include <string>

#include "caisson/document/document.h"
#include "caisson/document/toml_cursor.h"

namespace caisson::document {

// The parts of TOML 1.0 that hold no other values. Each takes its part from the cursor; errors are mistakes at their
// place.

enum class Lines : std::uint8_t { kOne, kMany };

// A text in quotes of either kind; with `kMany` also in three of them.
Result<std::string> TakeTomlText(TomlCursor& cursor, Lines lines);

// A text, number, truth or moment.
Result<Value::Content> TakeTomlScalar(TomlCursor& cursor);

}  // namespace caisson::document
