#pragma once

#include <string>

#include "caisson/base/result.h"

namespace caisson::os {

// The folder this program was started from, where the other programs lie. Source: proc(5), /proc/self/exe.
Result<std::string> ProgramFolder();

}  // namespace caisson::os
