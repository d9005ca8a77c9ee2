#include "caisson/shell/compound.h"

#include "caisson/shell/arithmetic.h"
#include "caisson/shell/conditional.h"
#include "caisson/shell/loops.h"
#include "caisson/shell/names.h"
#include "caisson/shell/redirections.h"
#include "caisson/shell/words.h"

namespace caisson::shell {
namespace {

void ReadSubshell(Scan& scan) {
  scan.Skip(1);
  ReadBody(scan);
  if (!scan.TakeIf(')')) scan.Fail("a subshell that does not end");
}

void ReadGroup(Scan& scan) {
  scan.Skip(1);
  ReadBody(scan);
  ExpectReserved(scan, "}");
}

void ReadIf(Scan& scan) {
  ExpectReserved(scan, "if");
  ReadBody(scan);
  ExpectReserved(scan, "then");
  ReadBody(scan);
  while (PeekReserved(scan) == "elif") {
    ExpectReserved(scan, "elif");
    ReadBody(scan);
    ExpectReserved(scan, "then");
    ReadBody(scan);
  }
  if (PeekReserved(scan) == "else") {
    ExpectReserved(scan, "else");
    ReadBody(scan);
  }
  ExpectReserved(scan, "fi");
}

// One pattern and its commands; false: the case ends without another.
bool ReadClause(Scan& scan) {
  SkipNewlines(scan);
  if (PeekReserved(scan) == "esac") return false;
  if (scan.TakeIf('(')) SkipBlanks(scan);
  if (PeekReserved(scan) == "esac") scan.Fail("a pattern that is a keyword");
  do {
    SkipBlanks(scan);
    if (!AtWord(scan)) scan.Fail("a pattern is missing");
    ReadWord(scan, WordPlace::kLeading);
    SkipBlanks(scan);
  } while (scan.TakeIf('|'));
  if (!scan.TakeIf(')')) scan.Fail("a pattern that does not end");
  ReadList(scan, ListPlace::kInside);
  return scan.TakeIf(";;&") || scan.TakeIf(";;") || scan.TakeIf(";&");
}

void ReadCase(Scan& scan) {
  ExpectReserved(scan, "case");
  if (!AtWord(scan)) scan.Fail("a word is missing");
  ReadWord(scan, WordPlace::kOther);
  SkipNewlines(scan);
  ExpectReserved(scan, "in");
  while (ReadClause(scan)) {
  }
  ExpectReserved(scan, "esac");
}

After ReadInner(Scan& scan) {
  const std::string_view word = PeekReserved(scan);
  if (scan.TakeIf("((")) {
    ReadArithmetic(scan, ArithmeticKind::kExpression);
    return After::kSeparator;
  }
  if (word == "[[") {
    ReadConditional(scan);
    return After::kSeparator;
  }
  if (scan.Peek() == '(') {
    ReadSubshell(scan);
  } else if (word == "{") {
    ReadGroup(scan);
  } else if (word == "if") {
    ReadIf(scan);
  } else if (word == "case") {
    ReadCase(scan);
  } else {
    ReadLoop(scan);
  }
  return After::kAnything;
}

std::size_t FunctionNameLength(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && (IsNameByte(text[length]) || text[length] == '-' || text[length] == '.')) ++length;
  return IsNumber(text.substr(0, length)) ? 0 : length;
}

// The ( ) after a name, with blanks.
bool TakeParentheses(Scan& scan) {
  SkipBlanks(scan);
  if (!scan.TakeIf('(')) return false;
  SkipBlanks(scan);
  if (!scan.TakeIf(')')) scan.Fail("a function without its ')'");
  return true;
}

}  // namespace

bool AtCompound(const Scan& scan) {
  const std::string_view word = PeekReserved(scan);
  return scan.Peek() == '(' || word == "{" || word == "[[" || word == "if" || word == "while" || word == "until" ||
         word == "for" || word == "select" || word == "case";
}

After ReadCompound(Scan& scan) {
  const Level level(scan);
  After after = ReadInner(scan);
  const bool is_apart = IsBlank(scan.Previous()) || scan.Previous() == '\n';
  if (!EndsWord(scan.Peek()) && !is_apart) scan.Fail("a word after a command that has ended");
  if (ReadTrailingRedirections(scan)) after = After::kSeparator;
  return after;
}

bool AtFunction(const Scan& scan) {
  const std::string_view word = PeekReserved(scan);
  if (word == "function") return true;
  std::size_t at = FunctionNameLength(scan.Rest());
  if (at == 0 || !word.empty()) return false;
  while (IsBlank(scan.Peek(at))) ++at;
  return scan.Peek(at) == '(';
}

std::string ReadFunction(Scan& scan) {
  const Level level(scan);
  const bool has_keyword = PeekReserved(scan) == "function";
  if (has_keyword) ExpectReserved(scan, "function");
  const std::string name(scan.Rest().substr(0, FunctionNameLength(scan.Rest())));
  if (name.empty() || IsReserved(name)) scan.Fail("a function of an unusual name");
  scan.Skip(name.size());
  if (!EndsWord(scan.Peek())) scan.Fail("a function of an unusual name");
  if (!TakeParentheses(scan) && !has_keyword) scan.Fail("a function without its '('");
  SkipNewlines(scan);
  if (!AtCompound(scan)) scan.Fail("a function without a body");
  ReadCompound(scan);
  return name;
}

}  // namespace caisson::shell
