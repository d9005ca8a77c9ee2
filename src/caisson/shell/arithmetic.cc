#include "caisson/shell/arithmetic.h"

#include <algorithm>
#include <string_view>

#include "caisson/shell/names.h"

namespace caisson::shell {
namespace {

constexpr std::string_view kOperators = " \t+-*/%<>=!&|^~?:,";

void ReadNumber(Scan& scan) {
  const std::size_t start = scan.position();
  while (IsNameByte(scan.Peek())) scan.Skip(1);
  const std::string_view number = scan.Since(start);
  const bool is_hex = (number.starts_with("0x") || number.starts_with("0X")) && number.size() > 2 &&
                      number.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
  if (!is_hex && !IsNumber(number)) scan.Fail("arithmetic with names");
}

}  // namespace

void ReadArithmetic(Scan& scan, ArithmeticKind kind) {
  std::size_t open = 0;
  std::size_t separators = 0;
  while (!scan.AtEnd()) {
    const char c = scan.Peek();
    if (IsDigit(c)) {
      ReadNumber(scan);
      continue;
    }
    scan.Skip(1);
    if (c == '(') {
      ++open;
    } else if (c == ')' && open > 0) {
      --open;
    } else if (c == ')') {
      if (!scan.TakeIf(')')) return scan.Fail("parentheses that may be arithmetic or commands");
      if (separators != (kind == ArithmeticKind::kLoop ? 2 : 0)) scan.Fail("arithmetic that is not whole");
      return;
    } else if (c == ';' && kind == ArithmeticKind::kLoop && open == 0) {
      ++separators;
    } else if (kOperators.find(c) == std::string_view::npos) {
      return scan.Fail("arithmetic with more than numbers");
    }
  }
  scan.Fail("arithmetic that does not end");
}

}  // namespace caisson::shell
