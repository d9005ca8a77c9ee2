#pragma once

#include <cstdint>

#include "caisson/shell/scan.h"
#include "caisson/shell/word_builder.h"

namespace caisson::shell {

// Which quotes lie around what is read. In a here-document " is a byte like others.
enum class Quoting : std::uint8_t { kNone, kDouble, kHereDocument };

// '...' at the scan.
void ReadSingleQuotes(Scan& scan, WordBuilder& word);
// $'...' at the scan, decoded.
void ReadDecodedQuotes(Scan& scan, WordBuilder& word);
// What follows ", through the " that ends it, or to the end of a here-document.
void ReadQuotedText(Scan& scan, WordBuilder& word, Quoting quoting);

}  // namespace caisson::shell
