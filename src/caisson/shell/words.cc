#include "caisson/shell/words.h"

#include "caisson/shell/expansions.h"
#include "caisson/shell/here_documents.h"
#include "caisson/shell/names.h"
#include "caisson/shell/quotes.h"
#include "caisson/shell/word_builder.h"

namespace caisson::shell {
namespace {

constexpr std::string_view kContinuation = "\\\n";

// Bash joins the lines before it looks for operators, so that one could grow from both sides.
void SkipContinuation(Scan& scan) {
  scan.CheckInnerNewline();
  const char before = scan.Previous();
  scan.Skip(kContinuation.size());
  const char after = scan.Peek();
  const bool is_harmless = IsBlank(after) || IsNameByte(after) || after == '.' || after == '/' || after == '"' ||
                           after == '\'' || after == '$';
  if (IsOperator(before) && !is_harmless) scan.Fail("an operator before a line continuation");
}

void ReadBackslash(Scan& scan, WordBuilder& word) {
  if (scan.TakeIf(kContinuation)) {
    scan.CheckInnerNewline();
    word.Joined();
    return;
  }
  scan.Skip(1);
  if (scan.AtEnd()) return scan.Fail("a backslash at the end");
  word.Quoted(scan.Take());
}

void ReadPart(Scan& scan, WordBuilder& word) {
  switch (scan.Peek()) {
    case '\'':
      return ReadSingleQuotes(scan, word);
    case '"':
      scan.Skip(1);
      return ReadQuotedText(scan, word, Quoting::kDouble);
    case '$':
      return ReadDollar(scan, word, Quoting::kNone);
    case '`':
      word.Expansion();
      return ReadBackticks(scan, Quoting::kNone);
    case '\\':
      return ReadBackslash(scan, word);
    case '<':
    case '>':
      word.Expansion();
      scan.Skip(2);
      return ReadSubstitution(scan);
    default:
      word.Plain(scan.Take());
  }
}

void CheckEnd(Scan& scan, const WordBuilder& word, std::string_view source, WordPlace place) {
  const char next = scan.Peek();
  if (next == '(' && !source.empty()) scan.Fail("a parenthesis inside a word");
  if (next == '<' || next == '>') {
    if (word.is_joined()) scan.Fail("a line continuation before a redirection");
    if (source.starts_with('{') && source.ends_with('}')) scan.Fail("a variable for a descriptor");
  }
  if (word.is_joined() && place == WordPlace::kLeading) scan.Fail("a line continuation inside a leading word");
}

}  // namespace

void SkipBlanks(Scan& scan) {
  while (true) {
    const char c = scan.Peek();
    if (IsBlank(c)) {
      scan.Skip(1);
    } else if (c == '#') {
      while (!scan.AtEnd() && scan.Peek() != '\n') scan.Skip(1);
    } else if (scan.StartsWith(kContinuation)) {
      SkipContinuation(scan);
    } else {
      return;
    }
  }
}

bool TakeNewline(Scan& scan) {
  if (!scan.TakeIf('\n')) return false;
  if (scan.pending_outside) scan.Fail("a line that ends inside a word before a here-document");
  ReadHereDocuments(scan);
  return true;
}

bool SkipNewlines(Scan& scan) {
  SkipBlanks(scan);
  bool found = false;
  while (TakeNewline(scan)) {
    found = true;
    SkipBlanks(scan);
  }
  return found;
}

bool AtProcessSubstitution(const Scan& scan) {
  return (scan.Peek() == '<' || scan.Peek() == '>') && scan.Peek(1) == '(';
}

bool AtWord(const Scan& scan) { return !EndsWord(scan.Peek()) || AtProcessSubstitution(scan); }

Word ReadWord(Scan& scan, WordPlace place) {
  const std::size_t start = scan.position();
  WordBuilder word;
  while (AtWord(scan)) ReadPart(scan, word);
  const std::string_view source = scan.Since(start);
  CheckEnd(scan, word, source, place);
  scan.findings().Charge(source.size(), scan.OffsetOf(start));
  return word.Finish(std::string(source));
}

}  // namespace caisson::shell
