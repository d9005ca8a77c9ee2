#pragma once

#include "caisson/shell/quotes.h"
#include "caisson/shell/scan.h"
#include "caisson/shell/word_builder.h"

namespace caisson::shell {

// What begins with $ at the scan: a parameter, a substitution, arithmetic, $'...', or the byte itself.
void ReadDollar(Scan& scan, WordBuilder& word, Quoting quoting);
// `...` at the scan: the backslashes that its quoting needs are taken off, then it is text like any other.
void ReadBackticks(Scan& scan, Quoting quoting);
// The commands after $(, <( or >(, through the ).
void ReadSubstitution(Scan& scan);

}  // namespace caisson::shell
