#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "caisson/document/document.h"

namespace caisson::document {

// kInvalidArgument: "NAME:LINE:COLUMN: what", with the details `line` and `column`.
Error MistakeAt(std::string_view name, const Place& place, std::string_view what);

// Where the byte at `offset` stands. Linear in what is before it.
Place PlaceAt(std::string_view text, std::size_t offset);

}  // namespace caisson::document
