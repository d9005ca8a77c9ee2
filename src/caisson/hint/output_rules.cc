#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/utf8.h"
#include "caisson/hint/complaints.h"
#include "caisson/hint/rules.h"

// What a caller that sees only a result should know about the output in it.

namespace caisson::hint {
namespace {

bool IsText(const sandbox::CapturedOutput& output) {
  const std::string_view kept = output.kept;
  return IsUtf8(output.truncated ? kept.substr(0, WholeUtf8Length(kept)) : kept);
}

std::string_view StreamName(const Evidence& evidence, const sandbox::CapturedOutput& output) {
  return &output == &evidence.result.out ? "stdout" : "stderr";
}

// The words of a command: of `sh -c TEXT` those of the text when it is one plain command. Empty when it is not:
// redirections and lists are silent for their own reasons.
std::vector<std::string> WordsOf(const std::vector<std::string>& argv) {
  constexpr std::array<std::string_view, 4> kShells = {"sh", "bash", "dash", "zsh"};
  if (argv.empty()) return {};
  if (std::find(kShells.begin(), kShells.end(), BaseName(argv[0])) == kShells.end()) return argv;
  if (argv.size() != 3 || argv[1] != "-c" || argv[2].size() > kLookedAt.value) return {};
  const std::string_view text = argv[2];
  if (text.find_first_of(";|&<>`\n") != std::string_view::npos || text.find("$(") != std::string_view::npos) return {};
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

bool HasOption(const std::vector<std::string>& words, std::string_view option) {
  return std::find(words.begin(), words.end(), option) != words.end();
}

// An interpreter that was given its program on the command line: that prints, or it was for nothing.
bool IsInlineProgram(std::string_view program, const std::vector<std::string>& words) {
  if (program.starts_with("python")) return HasOption(words, "-c");
  if (program == "node" || program == "perl" || program == "ruby") return HasOption(words, "-e");
  return program == "php" && HasOption(words, "-r");
}

// A program that does nothing but print, so that no output means no input or no match.
bool OnlyPrints(std::string_view program, const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 10> kPrinters = {"cat", "head", "tail", "ls",  "jq",
                                                          "awk", "cut",  "sort", "env", "ps"};
  const bool is_find = program == "find" && !HasOption(words, "-exec") && !HasOption(words, "-delete");
  return is_find || std::find(kPrinters.begin(), kPrinters.end(), program) != kPrinters.end();
}

}  // namespace

std::optional<Hint> OutputTruncated(const Evidence& evidence) {
  if (evidence.delivery != Delivery::kKept) return std::nullopt;
  for (const sandbox::CapturedOutput* output : {&evidence.result.out, &evidence.result.err}) {
    if (!output->truncated) continue;
    return Hint{.code = "output_truncated",
                .message = std::string(StreamName(evidence, *output)) + " has " + std::to_string(output->total_bytes) +
                           " bytes; the result holds the first " + std::to_string(output->kept.size()) + ".",
                .suggestion = "Write it to a file and read the part you need, such as `> out.txt; tail out.txt`."};
  }
  return std::nullopt;
}

std::optional<Hint> NonUtf8Output(const Evidence& evidence) {
  if (evidence.delivery != Delivery::kKept) return std::nullopt;
  for (const sandbox::CapturedOutput* output : {&evidence.result.out, &evidence.result.err}) {
    if (IsText(*output)) continue;
    return Hint{.code = "non_utf8_output",
                .message = std::string(StreamName(evidence, *output)) +
                           " is not UTF-8, so the result holds both streams as base64.",
                .suggestion =
                    "Decode them, or print text: `| od -An -tx1` for bytes, `| iconv -f ENCODING -t UTF-8` for "
                    "text of another encoding."};
  }
  return std::nullopt;
}

std::optional<Hint> EmptyOutput(const Evidence& evidence) {
  const sandbox::CommandResult& result = evidence.result;
  if (evidence.delivery != Delivery::kKept || !ExitedWith(evidence, 0)) return std::nullopt;
  if (result.out.total_bytes != 0 || result.err.total_bytes != 0) return std::nullopt;
  const std::vector<std::string> words = WordsOf(evidence.command.argv);
  if (words.empty()) return std::nullopt;
  const std::string_view program = BaseName(words[0]);
  if (IsInlineProgram(program, words)) {
    return Hint{.code = "empty_output",
                .message = Named(program) + " succeeded and printed nothing: a program shows only what it prints.",
                .suggestion = program.starts_with("python") ? "Print what you want to see, with `print(...)`."
                                                            : "Print what you want to see."};
  }
  if (!OnlyPrints(program, words)) return std::nullopt;
  return Hint{.code = "empty_output",
              .message = Named(program) + " succeeded and printed nothing: its input is empty, or nothing matched.",
              .suggestion = "Look at what is there with `ls -la`."};
}

}  // namespace caisson::hint
