#include "caisson/shell/assignments.h"

#include "caisson/shell/names.h"
#include "caisson/shell/words.h"

namespace caisson::shell {
namespace {

// The length of name=, name+= or name[3]= at the front of `text`. `has_subscript`: of a name with [.
struct Head {
  std::size_t name = 0;
  std::size_t length = 0;  // 0: no assignment
  bool has_subscript = false;
};

Head ReadHead(std::string_view text) {
  Head head{.name = NameLength(text)};
  if (head.name == 0) return head;
  std::size_t at = head.name;
  const auto peek = [text](std::size_t index) { return index < text.size() ? text[index] : '\0'; };
  if (peek(at) == '[') {
    head.has_subscript = true;
    const std::size_t first = ++at;
    while (IsDigit(peek(at))) ++at;
    if (at == first || peek(at) != ']') return head;
    ++at;
  }
  if (peek(at) == '+') ++at;
  if (peek(at) == '=') head.length = at + 1;
  return head;
}

// In an array: [3]= before a value. Other brackets would be a key, or arithmetic.
void ReadKey(Scan& scan) {
  if (!scan.TakeIf('[')) return;
  const bool has_digits = IsDigit(scan.Peek());
  while (IsDigit(scan.Peek())) scan.Skip(1);
  if (!has_digits || !scan.TakeIf("]=")) scan.Fail("a key in an array that is not a number");
}

// After name=.
Word ReadArray(Scan& scan) {
  const Level level(scan);
  const std::size_t start = scan.position();
  scan.Skip(1);
  while (true) {
    SkipBlanks(scan);
    if (scan.Peek() == '\n') {
      scan.CheckInnerNewline();
      scan.Skip(1);
    } else if (AtWord(scan)) {
      ReadKey(scan);
      ReadWord(scan, WordPlace::kLeading);
    } else {
      break;
    }
  }
  if (!scan.TakeIf(')')) scan.Fail("an array that does not end");
  if (!EndsWord(scan.Peek()) || scan.Peek() == '(') scan.Fail("a word after an array");
  const std::string_view source = scan.Since(start);
  scan.findings().Charge(source.size(), scan.OffsetOf(start));
  return {.value = {}, .source = std::string(source), .known_prefix = {}};
}

}  // namespace

bool TryAssignment(Scan& scan, std::vector<Assignment>& assignments, ArrayPlace arrays) {
  const Head head = ReadHead(scan.Rest());
  if (head.length == 0) {
    if (head.has_subscript) scan.Fail("a subscript that is not a number");
    return false;
  }
  Assignment assignment;
  assignment.name = scan.Rest().substr(0, head.name);
  scan.Skip(head.length);
  if (scan.Peek() == '(') {
    const bool is_printed = scan.substitution_depth > 0;
    if (arrays == ArrayPlace::kRefused || head.has_subscript || is_printed)
      scan.Fail("an array that is not allowed here");
    assignment.value = ReadArray(scan);
  } else {
    assignment.value = ReadWord(scan, WordPlace::kLeading);
  }
  CheckAssignment(scan, assignment.name, assignment.value);
  if (!scan.failed()) assignments.push_back(std::move(assignment));
  return true;
}

void CheckAssignment(Scan& scan, std::string_view name, const Word& value) {
  const bool is_number = value.value && IsInteger(*value.value);
  if (IsIntegerVariable(name) && !is_number) scan.Fail("a value that bash evaluates as arithmetic");
}

void CheckReading(Scan& scan, std::string_view name) {
  if (ChangesReading(name)) scan.Fail("a variable that changes how bash reads the text");
}

}  // namespace caisson::shell
