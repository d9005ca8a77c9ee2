#pragma once

#include <string>

#include "caisson/shell/commands.h"
#include "caisson/shell/scan.h"

namespace caisson::shell {

// ( ), { }, if, while, until, for, select, case, [[ ]], (( )).
bool AtCompound(const Scan& scan);
// With the redirections after it.
After ReadCompound(Scan& scan);

// name ( ) or the keyword `function`.
bool AtFunction(const Scan& scan);
// Its name. The commands of its body are found where they stand.
std::string ReadFunction(Scan& scan);

}  // namespace caisson::shell
