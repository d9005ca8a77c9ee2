#include "caisson/shell/loops.h"

#include <string>
#include <utility>
#include <vector>

#include "caisson/shell/arithmetic.h"
#include "caisson/shell/assignments.h"
#include "caisson/shell/commands.h"
#include "caisson/shell/names.h"
#include "caisson/shell/words.h"

namespace caisson::shell {
namespace {

void ReadDo(Scan& scan) {
  ExpectReserved(scan, "do");
  ReadBody(scan);
  ExpectReserved(scan, "done");
}

// ; or newlines, or nothing before `do`.
void SkipSeparator(Scan& scan) {
  SkipBlanks(scan);
  if (scan.Peek() == ';') scan.Skip(1);
  SkipNewlines(scan);
}

std::string ReadVariable(Scan& scan) {
  std::string name(scan.Rest().substr(0, NameLength(scan.Rest())));
  scan.Skip(name.size());
  if (name.empty() || !(EndsWord(scan.Peek()))) scan.Fail("a loop over what is no variable");
  CheckReading(scan, name);
  return name;
}

// The values after `in`; without it those of the caller, which are not known.
std::vector<Word> ReadValues(Scan& scan) {
  std::vector<Word> values;
  ExpectReserved(scan, "in");
  for (; AtWord(scan); SkipBlanks(scan)) values.push_back(ReadWord(scan, WordPlace::kOther));
  if (scan.Peek() != ';' && scan.Peek() != '\n') scan.Fail("a list of values that does not end");
  return values;
}

void ReadEach(Scan& scan) {
  const std::size_t offset = scan.Offset();
  const std::string name = ReadVariable(scan);
  const std::size_t place = scan.findings().Reserve(offset);
  std::vector<Word> values(1);
  const bool has_separator = (SkipBlanks(scan), scan.Peek() == ';');
  SkipSeparator(scan);
  if (!has_separator && PeekReserved(scan) == "in") {
    values = ReadValues(scan);
    SkipSeparator(scan);
  }
  SimpleCommand command;
  command.offset = offset;
  for (Word& value : values) {
    CheckAssignment(scan, name, value);
    command.assignments.push_back({.name = name, .value = std::move(value)});
  }
  if (!scan.failed()) scan.findings().command(place) = std::move(command);
}

}  // namespace

void ReadLoop(Scan& scan) {
  const std::string keyword(PeekReserved(scan));
  ExpectReserved(scan, keyword);
  if (keyword == "while" || keyword == "until") {
    ReadBody(scan);
  } else if (keyword == "for" && scan.TakeIf("((")) {
    ReadArithmetic(scan, ArithmeticKind::kLoop);
    SkipSeparator(scan);
  } else {
    ReadEach(scan);
  }
  ReadDo(scan);
}

}  // namespace caisson::shell
