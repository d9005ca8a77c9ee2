#include "caisson/shell/expansions.h"

#include <utility>

#include "caisson/shell/arithmetic.h"
#include "caisson/shell/assignments.h"
#include "caisson/shell/commands.h"
#include "caisson/shell/names.h"

namespace caisson::shell {
namespace {

using std::string_view_literals::operator""sv;

bool IsOneOf(char c, std::string_view set) { return c != '\0' && set.find(c) != std::string_view::npos; }

void SkipDigits(Scan& scan) {
  while (IsDigit(scan.Peek())) scan.Skip(1);
}

// [3], [-1], [@] or [*]: any other subscript is arithmetic.
void ReadSubscript(Scan& scan) {
  if (!scan.TakeIf('[')) return;
  if (scan.TakeIf("@]"sv) || scan.TakeIf("*]"sv)) return;
  scan.TakeIf('-');
  if (!IsDigit(scan.Peek())) return scan.Fail("a subscript that is not a number");
  SkipDigits(scan);
  if (!scan.TakeIf(']')) scan.Fail("a subscript that is not a number");
}

// The name; empty: a special parameter or a position.
std::string_view ReadName(Scan& scan, std::string_view specials) {
  const std::size_t length = NameLength(scan.Rest());
  const std::size_t start = scan.position();
  if (length > 0) {
    scan.Skip(length);
    return scan.Since(start);
  }
  if (IsDigit(scan.Peek())) {
    SkipDigits(scan);
  } else if (IsOneOf(scan.Peek(), specials)) {
    scan.Skip(1);
  } else {
    scan.Fail("a parameter expansion of an unknown kind");
  }
  return {};
}

void SkipSpaces(Scan& scan) {
  while (scan.TakeIf(' ')) {
  }
}

// After ${x: the offset and the length, which are arithmetic: only numbers are harmless.
void ReadRange(Scan& scan) {
  for (int part = 0; part < 2; ++part) {
    SkipSpaces(scan);
    scan.TakeIf('-');
    SkipDigits(scan);
    SkipSpaces(scan);
    if (scan.TakeIf('}')) return;
    if (part == 0 && !scan.TakeIf(':')) break;
  }
  scan.Fail("arithmetic in a parameter expansion");
}

void ReadParameterPart(Scan& scan, WordBuilder& word, Quoting quoting) {
  const char c = scan.Peek();
  if (c == '`') return scan.Fail("a backtick inside a parameter expansion");
  if (IsOneOf(c, "{()\n")) return scan.Fail("a bracket or a newline inside a parameter expansion");
  if (c == '$') return ReadDollar(scan, word, quoting);
  if (c == '\\') {
    scan.Skip(1);
    if (scan.Peek() == '\n') return scan.Fail("a line continuation inside a parameter expansion");
    if (quoting != Quoting::kNone) word.Expansion();  // which backslashes stay depends on the operator
    return word.Quoted(scan.Take());
  }
  if (c != '\'' && c != '"') return word.Plain(scan.Take());
  // Inside other quotes it depends on the operator which of these are quotes.
  if (quoting != Quoting::kNone) return scan.Fail("quotes inside a quoted parameter expansion");
  if (c == '\'') return ReadSingleQuotes(scan, word);
  scan.Skip(1);
  ReadQuotedText(scan, word, Quoting::kDouble);
}

// The word or pattern of an operator, through the }.
Word ReadOperand(Scan& scan, Quoting quoting) {
  WordBuilder word;
  const std::size_t start = scan.position();
  while (!scan.TakeIf('}')) {
    if (scan.AtEnd()) {
      scan.Fail("a parameter expansion that does not end");
      return {};
    }
    ReadParameterPart(scan, word, quoting);
  }
  std::string_view source = scan.Since(start);
  source.remove_suffix(source.empty() ? 0 : 1);
  scan.findings().Charge(source.size(), scan.OffsetOf(start));
  return word.Finish(std::string(source));
}

// Through the } that ends it.
void ReadOperator(Scan& scan, std::string_view name, std::size_t offset, Quoting quoting) {
  if (scan.TakeIf('}')) return;
  const bool is_word = scan.Peek() == ':' && IsOneOf(scan.Peek(1), "-=?+");
  if (is_word) {
    scan.Skip(1);
  } else if (scan.TakeIf(':')) {
    return ReadRange(scan);
  }
  const char kind = scan.Peek();
  if (!IsOneOf(kind, "-=?+#%/^,")) return scan.Fail("a parameter expansion of an unknown kind");
  scan.Skip(1);
  if (kind != '=') return (void)ReadOperand(scan, quoting);
  if (name.empty()) return scan.Fail("an assignment to a special parameter");
  const std::size_t place = scan.findings().Reserve(offset);
  Word value = ReadOperand(scan, quoting);
  CheckAssignment(scan, name, value);
  CheckReading(scan, name);
  if (scan.failed()) return;
  scan.findings().command(place).assignments.push_back({.name = std::string(name), .value = std::move(value)});
}

// ${...} at the scan.
void ReadParameter(Scan& scan, Quoting quoting) {
  const Level level(scan);
  const std::size_t offset = scan.Offset();
  scan.Skip(2);
  if (scan.TakeIf('#')) {
    if (scan.TakeIf('}')) return;
    ReadName(scan, "@*");
    ReadSubscript(scan);
    if (!scan.TakeIf('}')) scan.Fail("a parameter expansion of an unknown kind");
    return;
  }
  const std::string_view name = ReadName(scan, "@*?$-");
  ReadSubscript(scan);
  ReadOperator(scan, name, offset, quoting);
}

// The text between the backticks, through the second.
Extract TakeBackticks(Scan& scan, Quoting quoting) {
  Extract inner;
  scan.Skip(1);
  while (!scan.TakeIf('`')) {
    if (scan.AtEnd()) {
      scan.Fail("a backtick without its second");
      return {};
    }
    if (scan.Peek() == '\\') {
      const char next = scan.Peek(1);
      if (next == '\n' || (next == '"' && quoting != Quoting::kNone)) scan.Fail("a backslash between backticks");
      if (IsOneOf(next, "$`\\")) scan.Skip(1);
      if (next == '\\' && scan.Peek(1) == '\n') scan.Fail("a backslash between backticks");
    }
    inner.offsets.push_back(static_cast<std::uint32_t>(scan.Offset()));
    inner.text += scan.Take();
  }
  scan.findings().Charge(inner.text.size(), scan.Offset());
  return inner;
}

}  // namespace

void ReadSubstitution(Scan& scan) {
  const Level level(scan);
  std::vector<HereDocument> around;
  around.swap(scan.pending);
  const bool was_outside = scan.pending_outside;
  scan.pending_outside = was_outside || !around.empty();
  const std::size_t outer_depth = std::exchange(scan.substitution_depth, scan.findings().depth());
  const std::size_t outer_documents = std::exchange(scan.documents, 0);
  const std::size_t statements = ReadList(scan, ListPlace::kInside);
  if (scan.documents > 0 && statements > 1) scan.Fail("a here-document among the commands of a substitution");
  scan.substitution_depth = outer_depth;
  scan.documents = outer_documents;
  if (!scan.pending.empty()) scan.Fail("a here-document without its body");
  if (!scan.TakeIf(')')) scan.Fail("a substitution that does not end");
  scan.pending.swap(around);
  scan.pending_outside = was_outside;
}

void ReadBackticks(Scan& scan, Quoting quoting) {
  const Level level(scan);
  const Extract extract = TakeBackticks(scan, quoting);
  Scan inner(extract, scan.findings());
  inner.pending_outside = scan.pending_outside || !scan.pending.empty();
  ReadList(inner, ListPlace::kInside);
  if (!inner.AtEnd()) inner.Fail("a token that does not belong here");
  if (!inner.pending.empty()) inner.Fail("a here-document without its body");
}

void ReadDollar(Scan& scan, WordBuilder& word, Quoting quoting) {
  const char next = scan.Peek(1);
  const bool is_bare = quoting == Quoting::kNone;
  if (next == '[') return scan.Fail("arithmetic in $[ ]");
  if (next == '"' && is_bare) return scan.Fail("a text that bash translates");
  if (next == '\\' && scan.Peek(2) == '\n') return scan.Fail("a line continuation after $");
  if (next == '\'' && is_bare) return ReadDecodedQuotes(scan, word);
  const bool is_parameter = IsNameStart(next) || IsDigit(next) || IsOneOf(next, "@*#?$!-");
  if (next != '(' && next != '{' && !is_parameter) return word.Quoted(scan.Take());
  word.Expansion();
  if (scan.TakeIf("$(("sv)) return ReadArithmetic(scan, ArithmeticKind::kExpression);
  if (scan.TakeIf("$("sv)) return ReadSubstitution(scan);
  if (next == '{') return ReadParameter(scan, quoting);
  scan.Skip(1);
  scan.Skip(IsNameStart(next) ? NameLength(scan.Rest()) : 1);
}

}  // namespace caisson::shell
