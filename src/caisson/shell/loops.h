#pragma once

#include "caisson/shell/scan.h"

namespace caisson::shell {

// while, until, for and select. The variable of the last two is an assignment: a command of no words for each value.
void ReadLoop(Scan& scan);

}  // namespace caisson::shell
