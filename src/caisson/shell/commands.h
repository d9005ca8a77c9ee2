#pragma once

#include <cstdint>
#include <string_view>

#include "caisson/shell/scan.h"

namespace caisson::shell {

// Of the whole text a list is what bash runs line by line, where a definition holds for all that comes after.
enum class ListPlace : std::uint8_t { kWholeText, kInside };

// Commands up to what ends a list: the end, ), ;;, ;&, ;;& or a keyword such as `done`. Whether it is the right end is
// for the caller to see. Returns the number of statements.
std::size_t ReadList(Scan& scan, ListPlace place);
// A list that must not be empty.
void ReadBody(Scan& scan);

// The word at the scan when it is a keyword, otherwise nothing.
std::string_view PeekReserved(const Scan& scan);
// The keyword, where nothing else may stand.
void ExpectReserved(Scan& scan, std::string_view word);

// What may follow a command: some must be ended before a keyword is one again.
enum class After : std::uint8_t { kAnything, kSeparator };

}  // namespace caisson::shell
