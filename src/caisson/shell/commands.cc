#include "caisson/shell/commands.h"

#include <string>

#include "caisson/shell/compound.h"
#include "caisson/shell/functions.h"
#include "caisson/shell/names.h"
#include "caisson/shell/simple_command.h"
#include "caisson/shell/words.h"

namespace caisson::shell {
namespace {

constexpr std::size_t kLongestReserved = 8;

struct Statement {
  After after = After::kAnything;
  std::string function;  // that it defines, when it does nothing else
};

bool AtListEnd(const Scan& scan) {
  if (scan.AtEnd() || scan.Peek() == ')' || scan.StartsWith(";;") || scan.StartsWith(";&")) return true;
  const std::string_view word = PeekReserved(scan);
  return word == "then" || word == "do" || word == "done" || word == "fi" || word == "else" || word == "elif" ||
         word == "esac" || word == "}";
}

Statement ReadCommand(Scan& scan) {
  Statement statement;
  if (AtFunction(scan)) {
    statement.function = ReadFunction(scan);
    statement.after = After::kSeparator;
  } else if (AtCompound(scan)) {
    statement.after = ReadCompound(scan);
  } else if (!PeekReserved(scan).empty()) {
    scan.Fail("a keyword that does not belong here");
  } else {
    ReadSimpleCommand(scan);
    statement.after = After::kSeparator;
  }
  SkipBlanks(scan);
  return statement;
}

bool TakeReserved(Scan& scan, std::string_view word) {
  if (PeekReserved(scan) != word) return false;
  scan.Skip(word.size());
  SkipBlanks(scan);
  return true;
}

// True: the pipeline has a `time` or a `!`.
bool ReadPipelinePrefix(Scan& scan) {
  bool found = false;
  if (TakeReserved(scan, "time")) {
    found = true;
    if (scan.substitution_depth > 0) scan.Fail("a 'time' in a substitution");  // bash does not read all it prints of it
    if (scan.StartsWith("-p") && EndsWord(scan.Peek(2))) {
      scan.Skip(2);
      SkipBlanks(scan);
    }
    if (scan.Peek() == '-') scan.Fail("an option of time that is not known");
  }
  if (scan.StartsWith("!(")) scan.Fail("a pattern in parentheses");
  return TakeReserved(scan, "!") || found;
}

Statement ReadPipeline(Scan& scan) {
  const bool has_prefix = ReadPipelinePrefix(scan);
  Statement statement = ReadCommand(scan);
  bool is_alone = !has_prefix;
  while (scan.Peek() == '|' && scan.Peek(1) != '|') {
    scan.Skip(scan.Peek(1) == '&' ? 2 : 1);
    SkipNewlines(scan);
    statement = ReadCommand(scan);
    is_alone = false;
  }
  if (!is_alone) statement.function.clear();
  return statement;
}

Statement ReadStatement(Scan& scan) {
  Statement statement = ReadPipeline(scan);
  while (scan.TakeIf("&&") || scan.TakeIf("||")) {
    SkipNewlines(scan);
    statement.after = ReadPipeline(scan).after;
    statement.function.clear();
  }
  return statement;
}

enum class Separator : std::uint8_t { kNone, kSequence, kBackground, kNewline };

Separator TakeSeparator(Scan& scan) {
  if (scan.Peek() == '\n') return SkipNewlines(scan) ? Separator::kNewline : Separator::kNone;
  if (AtListEnd(scan)) return Separator::kNone;
  const char c = scan.Peek();
  if (c != ';' && c != '&') {
    scan.Fail("a token that does not belong here");
    return Separator::kNone;
  }
  scan.Skip(1);
  if (SkipNewlines(scan)) return c == '&' ? Separator::kBackground : Separator::kNewline;
  return c == '&' ? Separator::kBackground : Separator::kSequence;
}

}  // namespace

std::string_view PeekReserved(const Scan& scan) {
  std::size_t length = 0;
  while (length <= kLongestReserved && !EndsWord(scan.Peek(length))) ++length;
  const std::string_view word = scan.Rest().substr(0, length);
  return IsReserved(word) ? word : std::string_view();
}

void ExpectReserved(Scan& scan, std::string_view word) {
  if (!TakeReserved(scan, word)) scan.Fail("a command without its '" + std::string(word) + "'");
}

std::size_t ReadList(Scan& scan, ListPlace place) {
  SkipNewlines(scan);
  std::size_t count = 0;
  // What fails while it expands ends its line, not the text: only what stands first in a line is sure to run.
  bool begins_line = place == ListPlace::kWholeText;
  while (!AtListEnd(scan)) {
    const Statement statement = ReadStatement(scan);
    ++count;
    const bool documents_wait = !scan.pending.empty();
    const Separator separator = TakeSeparator(scan);
    if (separator == Separator::kNone) {
      if (statement.after == After::kSeparator && !PeekReserved(scan).empty()) scan.Fail("a keyword after a command");
      break;
    }
    const bool defines = begins_line && !documents_wait && separator != Separator::kBackground;
    if (defines && IsSafeFunctionName(statement.function)) scan.findings().Define(statement.function);
    begins_line = place == ListPlace::kWholeText && separator == Separator::kNewline;
  }
  return count;
}

void ReadBody(Scan& scan) {
  if (ReadList(scan, ListPlace::kInside) == 0) scan.Fail("a command is missing");
}

}  // namespace caisson::shell
