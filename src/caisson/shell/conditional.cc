#include "caisson/shell/conditional.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "caisson/shell/names.h"
#include "caisson/shell/words.h"

namespace caisson::shell {
namespace {

using std::string_view_literals::operator""sv;

// Not -v and -R: they evaluate the subscript of the name they are given.
constexpr std::string_view kUnary = "abcdefghkoprstuwxzGLNOSn";
constexpr std::array kTextual = {"="sv, "=="sv, "!="sv, "-nt"sv, "-ot"sv, "-ef"sv};
constexpr std::array kArithmetic = {"-eq"sv, "-ne"sv, "-lt"sv, "-le"sv, "-gt"sv, "-ge"sv};

template <typename Names>
bool Holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsUnary(std::string_view word) {
  return word.size() == 2 && word.front() == '-' && kUnary.find(word[1]) != std::string_view::npos;
}

Word ReadOperand(Scan& scan) {
  if (!AtWord(scan)) scan.Fail("an operand is missing");
  Word word = ReadWord(scan, WordPlace::kLeading);
  if (word.source == "]]" || word.source == "[[") scan.Fail("an operand is missing");
  SkipBlanks(scan);
  return word;
}

void ReadBinary(Scan& scan, const Word& left) {
  if ((scan.Peek() == '<' || scan.Peek() == '>') && IsBlank(scan.Peek(1))) {
    scan.Skip(1);
    SkipBlanks(scan);
    ReadOperand(scan);
    return;
  }
  const Word sign = ReadOperand(scan);
  const std::size_t start = scan.position();
  const Word right = ReadOperand(scan);
  if (Holds(kTextual, sign.source)) return;
  if (Holds(kArithmetic, sign.source)) {
    const bool is_harmless = left.value && IsInteger(*left.value) && right.value && IsInteger(*right.value);
    if (!is_harmless) scan.Fail("a comparison that evaluates its operands as arithmetic");
    return;
  }
  if (sign.source != "=~") return scan.Fail("a test of an unknown kind");
  // Bash reads an expression over | and blanks in parentheses; without a blank after it this would not be all of it.
  const std::string_view written = scan.Since(start);
  if (written.empty() || !IsBlank(written.back())) scan.Fail("a regular expression of an unusual kind");
}

void ReadExpression(Scan& scan);

void ReadTerm(Scan& scan) {
  SkipBlanks(scan);
  while (scan.Peek() == '!' && IsBlank(scan.Peek(1))) {
    scan.Skip(1);
    SkipBlanks(scan);
  }
  if (scan.Peek() == '(') {
    const Level level(scan);
    scan.Skip(1);
    ReadExpression(scan);
    if (!scan.TakeIf(')')) scan.Fail("a parenthesis that does not end");
    return SkipBlanks(scan);
  }
  const Word first = ReadOperand(scan);
  if (IsUnary(first.source)) {
    ReadOperand(scan);
    return;
  }
  const bool ends = scan.StartsWith("]]") || scan.Peek() == ')' || scan.StartsWith("&&") || scan.StartsWith("||");
  if (!ends) return ReadBinary(scan, first);
  if (first.source.starts_with('-')) scan.Fail("a test of an unknown kind");
}

void ReadExpression(Scan& scan) {
  do {
    SkipBlanks(scan);
    if (scan.Peek() == '\n') {
      scan.CheckInnerNewline();
      scan.Skip(1);
    }
    ReadTerm(scan);
  } while (scan.TakeIf("&&") || scan.TakeIf("||"));
}

}  // namespace

void ReadConditional(Scan& scan) {
  scan.Skip(2);
  ReadExpression(scan);
  if (!scan.TakeIf("]]")) scan.Fail("a [[ without its ]]");
}

}  // namespace caisson::shell
