#pragma once

#include "caisson/shell/scan.h"

namespace caisson::shell {

// [[ ]] at the scan. Its operands are words; tests that evaluate one as arithmetic or as a variable are refused.
void ReadConditional(Scan& scan);

}  // namespace caisson::shell
