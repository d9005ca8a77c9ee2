#include "caisson/shell/redirections.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "caisson/shell/here_documents.h"
#include "caisson/shell/names.h"
#include "caisson/shell/words.h"

namespace caisson::shell {
namespace {

// Bash takes longer ones for words, from a length that depends on the machine.
constexpr std::size_t kMostDescriptorDigits = 4;

enum class Kind : std::uint8_t { kFile, kCopyOrRead, kCopyOrWrite, kString, kDocument, kIndentedDocument };

struct Operator {
  std::string_view text;
  Kind kind;
  Direction direction;
};

// The longest that fits comes first.
constexpr std::array<Operator, 12> kOperators = {{{"&>>", Kind::kFile, Direction::kWrite},
                                                  {"&>", Kind::kFile, Direction::kWrite},
                                                  {"<<<", Kind::kString, Direction::kRead},
                                                  {"<<-", Kind::kIndentedDocument, Direction::kRead},
                                                  {"<<", Kind::kDocument, Direction::kRead},
                                                  {"<>", Kind::kFile, Direction::kReadWrite},
                                                  {"<&", Kind::kCopyOrRead, Direction::kRead},
                                                  {"<", Kind::kFile, Direction::kRead},
                                                  {">>", Kind::kFile, Direction::kWrite},
                                                  {">|", Kind::kFile, Direction::kWrite},
                                                  {">&", Kind::kCopyOrWrite, Direction::kWrite},
                                                  {">", Kind::kFile, Direction::kWrite}}};

// Where the operator begins: after the number of a descriptor. Npos: the text at the scan is no redirection.
std::size_t OperatorStart(Scan& scan) {
  std::size_t digits = 0;
  while (IsDigit(scan.Peek(digits))) ++digits;
  const char first = scan.Peek(digits);
  const char second = scan.Peek(digits + 1);
  const bool is_both = digits == 0 && first == '&' && second == '>';
  const bool is_other = (first == '<' || first == '>') && second != '(';
  if (!is_both && !is_other) return std::string_view::npos;
  if (digits > kMostDescriptorDigits) scan.Fail("a descriptor of many digits");
  return digits;
}

bool IsCopy(Kind kind) { return kind == Kind::kCopyOrRead || kind == Kind::kCopyOrWrite; }

// 3 or 3-: a copy or a move of a descriptor.
bool IsDescriptor(std::string_view text) {
  if (text.ends_with('-')) text.remove_suffix(1);
  return IsNumber(text);
}

// Bash itself connects for these names. What is known of one that is not whole may be their beginning.
bool MayBeNetwork(const Word& target) {
  constexpr std::string_view kFolder = "/dev/";
  const std::string& known = target.value ? *target.value : target.known_prefix;
  for (const std::string_view name : {std::string_view("/dev/tcp/"), std::string_view("/dev/udp/")}) {
    if (known.starts_with(name)) return true;
    if (!target.value && known.starts_with(kFolder) && name.starts_with(known)) return true;
  }
  return false;
}

void AddTarget(Scan& scan, const Operator& found, Word target, std::vector<Redirection>& redirections) {
  if (IsCopy(found.kind) && target.value && IsDescriptor(*target.value)) return;
  if (found.kind == Kind::kCopyOrRead && target.value) return scan.Fail("a copy of what is no descriptor");
  if (MayBeNetwork(target)) return scan.Fail("a connection that bash itself makes");
  redirections.push_back({.direction = found.direction, .target = std::move(target)});
}

void ReadOperand(Scan& scan, const Operator& found, std::vector<Redirection>& redirections) {
  if (found.kind == Kind::kDocument || found.kind == Kind::kIndentedDocument) {
    return AnnounceHereDocument(scan, found.kind == Kind::kIndentedDocument ? Tabs::kStripped : Tabs::kKept);
  }
  SkipBlanks(scan);
  // After >& a minus is a token of its own: >&-x closes, and x is the next word.
  if (IsCopy(found.kind) && scan.TakeIf('-')) {
    if (!EndsWord(scan.Peek())) scan.Fail("a word right after the end of a descriptor");
    return;
  }
  if (!AtWord(scan)) return scan.Fail("a redirection without a target");
  Word target = ReadWord(scan, WordPlace::kOther);
  const bool is_before_another = scan.Peek() == '<' || scan.Peek() == '>';
  if (is_before_another && !IsCopy(found.kind) && IsNumber(target.source)) {
    scan.Fail("a number that belongs to the next redirection");
  }
  if (scan.failed() || found.kind == Kind::kString) return;
  AddTarget(scan, found, std::move(target), redirections);
}

}  // namespace

bool TryRedirection(Scan& scan, std::vector<Redirection>& redirections) {
  const std::size_t start = OperatorStart(scan);
  if (start == std::string_view::npos) return false;
  scan.Skip(start);
  for (const Operator& found : kOperators) {
    if (!scan.TakeIf(found.text)) continue;
    ReadOperand(scan, found, redirections);
    break;
  }
  return true;
}

bool ReadTrailingRedirections(Scan& scan) {
  std::vector<Redirection> redirections;
  SkipBlanks(scan);
  if (OperatorStart(scan) == std::string_view::npos) return false;
  const std::size_t place = scan.findings().Reserve(scan.Offset());
  while (TryRedirection(scan, redirections)) SkipBlanks(scan);
  scan.findings().command(place).redirections = std::move(redirections);
  return true;
}

}  // namespace caisson::shell
