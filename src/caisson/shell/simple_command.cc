#include "caisson/shell/simple_command.h"

#include <utility>

#include "caisson/shell/assignments.h"
#include "caisson/shell/commands.h"
#include "caisson/shell/redirections.h"
#include "caisson/shell/words.h"

namespace caisson::shell {

void ReadSimpleCommand(Scan& scan) {
  const std::size_t start = scan.position();
  // Commands inside its words take the places after it.
  const std::size_t place = scan.findings().Reserve(scan.Offset());
  SimpleCommand command;
  command.offset = scan.Offset();
  bool has_redirection = false;
  for (;; SkipBlanks(scan)) {
    if (TryRedirection(scan, command.redirections)) {
      has_redirection = true;
      continue;
    }
    if (!AtWord(scan)) break;
    const bool is_leading = command.words.empty();
    const ArrayPlace arrays = has_redirection ? ArrayPlace::kRefused : ArrayPlace::kAllowed;
    if (is_leading && TryAssignment(scan, command.assignments, arrays)) continue;
    const bool is_first = !has_redirection && command.assignments.empty();
    if (is_leading && !is_first && !PeekReserved(scan).empty()) scan.Fail("a keyword as the name of a command");
    Word word = ReadWord(scan, is_leading ? WordPlace::kLeading : WordPlace::kOther);
    if (!scan.failed()) command.words.push_back(std::move(word));  // half a word would be told as a whole one
  }
  if (scan.position() == start) scan.Fail("a command is missing");
  if (scan.Peek() == '(') scan.Fail("a parenthesis that does not belong here");
  if (command.words.empty()) {
    for (const Assignment& assignment : command.assignments) CheckReading(scan, assignment.name);
  }
  scan.findings().command(place) = std::move(command);
}

}  // namespace caisson::shell
