#pragma once

#include "caisson/shell/scan.h"

namespace caisson::shell {

// Assignments, words and redirections, up to what ends a command.
void ReadSimpleCommand(Scan& scan);

}  // namespace caisson::shell
