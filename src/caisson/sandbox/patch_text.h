#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace caisson::sandbox {

// Text as it goes into a patch. Whatever comes in is any bytes. Pure; private to the module.

// "PREFIX/PATH" without the path's leading slashes, in double quotes with C and octal escapes when it holds a control
// character, a quote, a backslash or a byte that is not UTF-8. git-apply(1) and patch(1) read both forms.
std::string PatchName(std::string_view prefix, std::string_view path);

// The lines of `text`, each with its newline; the last may have none.
std::vector<std::string_view> SplitLines(std::string_view text);

// Appends `text` with what could move a terminal's cursor or change the order in which it shows text as \xNN or \uNNNN:
// control characters other than tab and newline, bidirectional controls, bytes that are not UTF-8.
void AppendForTerminal(std::string& out, std::string_view text);

}  // namespace caisson::sandbox
