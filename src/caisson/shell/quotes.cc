#include "caisson/shell/quotes.h"

#include <array>
#include <string_view>

#include "caisson/shell/expansions.h"

namespace caisson::shell {
namespace {

constexpr std::string_view kOpen = "quotes that do not end";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// At most `most` digits of base 8 or 16; -1 when there is none.
long ReadDigits(Scan& scan, int base, int most) {
  long value = -1;
  for (int count = 0; count < most; ++count) {
    const int digit = HexValue(scan.Peek());
    if (digit < 0 || digit >= base) break;
    value = (value < 0 ? 0 : value) * base + digit;
    scan.Skip(1);
  }
  return value;
}

void AddByte(Scan& scan, WordBuilder& word, long value) {
  const auto byte = static_cast<char>(value & 0xFF);
  if (byte == '\0') return scan.Fail("a NUL in quotes");
  word.Decoded(byte);
}

// After \x, \u or \U.
void ReadHex(Scan& scan, WordBuilder& word, char kind) {
  const int most = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
  const long value = ReadDigits(scan, 16, most);
  if (value < 0) return scan.Fail("an escape without digits");
  // What a character beyond ASCII becomes is a matter of the locale.
  if (kind != 'x' && value > 0x7F) return word.Expansion();
  AddByte(scan, word, value);
}

void ReadEscape(Scan& scan, WordBuilder& word) {
  struct Named {
    char letter;
    char byte;
  };
  constexpr std::array<Named, 13> kNamed = {{{'a', '\a'},
                                             {'b', '\b'},
                                             {'e', '\x1B'},
                                             {'E', '\x1B'},
                                             {'f', '\f'},
                                             {'n', '\n'},
                                             {'r', '\r'},
                                             {'t', '\t'},
                                             {'v', '\v'},
                                             {'\\', '\\'},
                                             {'\'', '\''},
                                             {'"', '"'},
                                             {'?', '?'}}};
  scan.Skip(1);
  const char c = scan.Peek();
  if (c >= '0' && c <= '7') return AddByte(scan, word, ReadDigits(scan, 8, 3));
  scan.Skip(1);
  if (c == 'x' || c == 'u' || c == 'U') return ReadHex(scan, word, c);
  for (const Named& named : kNamed) {
    if (named.letter == c) return word.Decoded(named.byte);
  }
  scan.Fail("an escape that is not known");
}

bool IsEscapable(char c, Quoting quoting) {
  return c == '$' || c == '`' || c == '\\' || (c == '"' && quoting == Quoting::kDouble);
}

void ReadQuotedBackslash(Scan& scan, WordBuilder& word, Quoting quoting) {
  scan.Skip(1);
  if (scan.Peek() == '\n') {
    scan.CheckInnerNewline();
    scan.Skip(1);
  } else if (IsEscapable(scan.Peek(), quoting)) {
    word.Quoted(scan.Take());
  } else {
    word.Quoted('\\');
  }
}

}  // namespace

void ReadSingleQuotes(Scan& scan, WordBuilder& word) {
  scan.Skip(1);
  while (!scan.TakeIf('\'')) {
    if (scan.AtEnd()) return scan.Fail(std::string(kOpen));
    if (scan.Peek() == '\n') scan.CheckInnerNewline();
    word.Quoted(scan.Take());
  }
}

void ReadDecodedQuotes(Scan& scan, WordBuilder& word) {
  scan.Skip(2);
  while (!scan.TakeIf('\'')) {
    if (scan.AtEnd()) return scan.Fail(std::string(kOpen));
    if (scan.Peek() == '\n') scan.CheckInnerNewline();
    if (scan.Peek() == '\\') {
      ReadEscape(scan, word);
    } else {
      word.Quoted(scan.Take());
    }
  }
}

void ReadQuotedText(Scan& scan, WordBuilder& word, Quoting quoting) {
  while (!scan.AtEnd()) {
    switch (scan.Peek()) {
      case '"':
        if (quoting == Quoting::kDouble) return scan.Skip(1);
        word.Quoted(scan.Take());
        break;
      case '\\':
        ReadQuotedBackslash(scan, word, quoting);
        break;
      case '$':
        ReadDollar(scan, word, quoting);
        break;
      case '`':
        word.Expansion();
        ReadBackticks(scan, quoting);
        break;
      case '\n':
        scan.CheckInnerNewline();
        word.Quoted(scan.Take());
        break;
      default:
        word.Quoted(scan.Take());
    }
  }
  if (quoting == Quoting::kDouble) scan.Fail(std::string(kOpen));
}

}  // namespace caisson::shell
