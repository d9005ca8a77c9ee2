#pragma once

#include <vector>

#include "caisson/shell/scan.h"

namespace caisson::shell {

// A redirection at the scan, added when it is one to a file. False: there is none.
bool TryRedirection(Scan& scan, std::vector<Redirection>& redirections);

// All that follow a compound command: a command of no words holds them. True: there was one, also a here-document.
bool ReadTrailingRedirections(Scan& scan);

}  // namespace caisson::shell
