#pragma once

#include <string>
#include <string_view>

namespace caisson::rest {

// Small questions about the text of header fields, which is ASCII, and of JSON.

// Without spaces and tabs at both ends.
std::string_view Trimmed(std::string_view text);
// Equal but for the case of letters.
bool EqualText(std::string_view a, std::string_view b);
std::string Lower(std::string_view text);

// The type of a field `Content-Type` without its parameters, in small letters.
std::string MediaType(std::string_view field);

}  // namespace caisson::rest
