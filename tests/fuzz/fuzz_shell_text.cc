// Shell text that an agent gives.
// Input: the text.

#include <algorithm>
#include <string>
#include <string_view>

#include "caisson/base/utf8.h"
#include "caisson/shell/shell.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace shell = caisson::shell;

std::size_t Size(const shell::Word& word) {
  Require(!word.value || caisson::IsUtf8(*word.value), "a value is UTF-8");
  Require(!word.value || word.known_prefix.empty(), "a prefix is of a value that is not known");
  return word.source.size() + (word.value ? word.value->size() : word.known_prefix.size());
}

void RequireBounds(const shell::Analysis& analysis, std::string_view text) {
  Require(analysis.commands.size() <= shell::kMostCommands && analysis.depth <= shell::kMostDepth, "limits hold");
  Require(!analysis.unknown || (analysis.unknown->offset <= text.size() && !analysis.unknown->what.empty()),
          "what is unknown lies in the text");
  std::size_t size = 0;
  for (const shell::SimpleCommand& command : analysis.commands) {
    Require(command.offset <= text.size(), "a command lies in the text");
    for (const shell::Word& word : command.words) size += Size(word);
    for (const shell::Assignment& assignment : command.assignments) {
      Require(!assignment.name.empty(), "an assignment has a name");
      size += Size(assignment.value);
    }
    for (const shell::Redirection& redirection : command.redirections) size += Size(redirection.target);
  }
  Require(size <= 32 * text.size() + (std::size_t{1} << 20U), "what is found grows with the text");
}

bool AreSame(const shell::SimpleCommand& a, const shell::SimpleCommand& b) {
  return std::equal(
             a.words.begin(), a.words.end(), b.words.begin(), b.words.end(),
             [](const shell::Word& x, const shell::Word& y) { return x.value == y.value && x.source == y.source; }) &&
         a.assignments.size() == b.assignments.size() && a.redirections.size() == b.redirections.size();
}

// The same commands are found, after `skipped` others, where the text stands inside another.
void RequireInside(const shell::Analysis& analysis, const std::string& around, std::size_t skipped) {
  const shell::Analysis other = shell::Analyze(around);
  // Some is refused in a substitution because bash itself does not read it right there.
  if (other.unknown && skipped > 0 && around.starts_with("x=")) return;
  Require(!other.unknown, "what is proved is proved inside another text");
  Require(other.commands.size() == analysis.commands.size() + skipped, "no command is lost or won");
  Require(std::equal(analysis.commands.begin(), analysis.commands.end(),
                     other.commands.begin() + static_cast<std::ptrdiff_t>(skipped), AreSame),
          "commands are the same inside another text");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const std::string text(input.TakeRest());
  const shell::Analysis analysis = shell::Analyze(text);
  RequireBounds(analysis, text);
  const bool has_room = text.size() < shell::kMostText / 2 && analysis.depth + 2 < shell::kMostDepth &&
                        analysis.commands.size() + 2 < shell::kMostCommands;
  if (analysis.unknown || !has_room || analysis.commands.empty()) return 0;
  RequireInside(analysis, "( " + text + "\n)", 0);
  RequireInside(analysis, "{ " + text + "\n}", 0);
  RequireInside(analysis, "x=\"$( " + text + "\n)\"", 1);
  RequireInside(analysis, "first\n" + text, 1);
  const shell::Analysis longer = shell::Analyze(text + "\nlast");
  Require(!longer.unknown && longer.commands.size() == analysis.commands.size() + 1, "a text that is proved has ended");
  return 0;
}
