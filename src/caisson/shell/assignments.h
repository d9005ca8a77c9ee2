#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "caisson/shell/scan.h"

namespace caisson::shell {

enum class ArrayPlace : std::uint8_t { kAllowed, kRefused };

// An assignment at the scan: name=, name+=, name[3]=, name=( ). False: the word is none.
bool TryAssignment(Scan& scan, std::vector<Assignment>& assignments, ArrayPlace arrays);

// Fails when setting the variable to this would be evaluated.
void CheckAssignment(Scan& scan, std::string_view name, const Word& value);
// Fails when setting the variable in this shell changes how the rest of the text is read.
void CheckReading(Scan& scan, std::string_view name);

}  // namespace caisson::shell
