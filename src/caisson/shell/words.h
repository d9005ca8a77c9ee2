#pragma once

#include "caisson/shell/scan.h"

namespace caisson::shell {

// Passes over blanks, comments and line continuations, not over newlines. To be called between words only.
void SkipBlanks(Scan& scan);
// A newline, with the bodies of the here-documents that begin after it. False: there is none.
bool TakeNewline(Scan& scan);
// Blanks and newlines. True: there was a newline.
bool SkipNewlines(Scan& scan);

// <( or >(, which begin or continue a word.
bool AtProcessSubstitution(const Scan& scan);
bool AtWord(const Scan& scan);

// What the word decides: a leading one may be an assignment or a keyword.
enum class WordPlace { kLeading, kOther };
// The word at the scan, with the commands inside it. Of length 0 (as a value may be): the known empty one.
Word ReadWord(Scan& scan, WordPlace place);

}  // namespace caisson::shell
