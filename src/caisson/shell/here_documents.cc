#include "caisson/shell/here_documents.h"

#include <utility>

#include "caisson/shell/names.h"
#include "caisson/shell/quotes.h"
#include "caisson/shell/word_builder.h"

namespace caisson::shell {
namespace {

bool IsPlain(char c) { return IsNameByte(c) || c == '-' || c == '.'; }

// Bytes that quotes, blanks and expansions leave alone, so that there is one reading of where the body ends.
void ReadDelimiterPart(Scan& scan, HereDocument& document) {
  const char c = scan.Peek();
  if (c == '\\' || c == '\'' || c == '"') {
    document.is_quoted = true;
    scan.Skip(1);
  }
  if (c != '\'' && c != '"') {
    if (IsPlain(scan.Peek())) {
      document.delimiter += scan.Take();
    } else {
      scan.Fail("a delimiter of an unusual kind");
    }
    return;
  }
  while (IsPlain(scan.Peek())) document.delimiter += scan.Take();
  if (!scan.TakeIf(c)) scan.Fail("a delimiter of an unusual kind");
}

// There bash gets only one that ends its line, outside other constructs, right.
void CheckInSubstitution(Scan& scan) {
  while (IsBlank(scan.Peek())) scan.Skip(1);
  const bool is_simple = scan.Peek() == '\n' && scan.findings().depth() == scan.substitution_depth;
  if (!is_simple || ++scan.documents > 1) scan.Fail("a here-document inside a command of a substitution");
}

// The next line without its newline. Of a body with expansions, bash joins continued lines first.
void TakeLine(Scan& scan, const HereDocument& document, Extract& line) {
  const auto take = [&] {
    line.offsets.push_back(static_cast<std::uint32_t>(scan.Offset()));
    line.text += scan.Take();
  };
  while (document.strips_tabs && scan.Peek() == '\t') scan.Skip(1);
  while (!scan.AtEnd() && scan.Peek() != '\n') {
    if (document.is_quoted || scan.Peek() != '\\') {
      take();
    } else if (scan.Peek(1) == '\n') {
      scan.Skip(2);
    } else {
      take();
      if (!scan.AtEnd()) take();
    }
  }
}

void Append(Extract& body, const Extract& line, std::size_t end) {
  body.text += line.text;
  body.text += '\n';
  body.offsets.insert(body.offsets.end(), line.offsets.begin(), line.offsets.end());
  body.offsets.push_back(static_cast<std::uint32_t>(end));
}

Extract TakeBody(Scan& scan, const HereDocument& document) {
  const std::size_t start = scan.Offset();
  Extract body;
  Extract line;
  while (!scan.AtEnd()) {
    line.text.clear();
    line.offsets.clear();
    TakeLine(scan, document, line);
    const std::size_t end = scan.Offset();
    scan.TakeIf('\n');
    if (line.text == document.delimiter) {
      scan.findings().Charge(body.text.size(), start);
      return body;
    }
    // Inside a substitution bash ends the body here when a parenthesis follows in the line.
    if (line.text.starts_with(document.delimiter)) scan.Fail("a line of a here-document that begins like its end");
    Append(body, line, end);
  }
  scan.Fail("a here-document that does not end");
  return {};
}

}  // namespace

void AnnounceHereDocument(Scan& scan, Tabs tabs) {
  HereDocument document{.delimiter = {}, .is_quoted = false, .strips_tabs = tabs == Tabs::kStripped};
  while (IsBlank(scan.Peek())) scan.Skip(1);
  while (!EndsWord(scan.Peek())) ReadDelimiterPart(scan, document);
  if (document.delimiter.empty()) return scan.Fail("a here-document without a delimiter");
  if (scan.Peek() == '(' || scan.Peek(1) == '(') return scan.Fail("a delimiter of an unusual kind");
  if (scan.substitution_depth > 0) CheckInSubstitution(scan);
  scan.pending.push_back(std::move(document));
}

void ReadHereDocuments(Scan& scan) {
  const std::vector<HereDocument> documents = std::exchange(scan.pending, {});
  for (const HereDocument& document : documents) {
    const Extract body = TakeBody(scan, document);
    if (document.is_quoted || body.text.find_first_of("$`") == std::string::npos) continue;
    Scan inner(body, scan.findings());
    WordBuilder text;
    ReadQuotedText(inner, text, Quoting::kHereDocument);
  }
}

}  // namespace caisson::shell
