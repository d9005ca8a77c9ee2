#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caisson::shell {

// What bash 5.2 would do with a text, as far as that can be proved before it runs: every simple command the text may
// start, wherever it stands. Pure: nothing is run, looked up or expanded. Thread-safe. How, and which builtins a judge
// must not let pass because they change what a text means: docs/design/0015-shell-analysis.md.

// A word after quote removal. Its value is known when nothing in it is expanded: no parameter, substitution,
// arithmetic, unquoted glob, brace or tilde. Outside quotes, one of an unknown value may become several words or none.
struct Word {
  std::optional<std::string> value;  // UTF-8; absent: known only when it runs
  std::string source;                // as it is written
  // With an unknown value: what stands before the first expansion and is literal. An option can be told by it.
  std::string known_prefix;
};

// Also the variable of a loop, once for each value, and the one that ${x:=word} sets: of a command of no words.
struct Assignment {
  std::string name;  // before '=', '+=' or '[': one of a name with a subscript counts as the name
  Word value;
};

enum class Direction : std::uint8_t { kRead, kWrite, kReadWrite };
// A redirection to a file. Here-documents and here-strings, which open nothing of the caller's, and copies of
// descriptors (2>&1, 3<&-) are none; a copy of a descriptor that is not known counts as one to a file. Those of a
// compound command are of a command of no words.
struct Redirection {
  Direction direction = Direction::kRead;
  Word target;
};

struct SimpleCommand {
  // words[0] is the command word. Empty: assignments and redirections only.
  std::vector<Word> words;
  std::vector<Assignment> assignments;  // those before the command word; of no word, those of the shell itself
  std::vector<Redirection> redirections;
  bool calls_function = false;  // the command word is a function that the text has certainly defined before
  std::size_t offset = 0;       // of its first byte in the text
};

// What could not be proved, with the place. The commands found are then not all, and may lack their last words.
struct Unknown {
  std::string what;  // in words: "a backtick inside a parameter expansion"
  std::size_t offset = 0;
};

struct Analysis {
  std::vector<SimpleCommand> commands;  // in the order of the text
  std::optional<Unknown> unknown;
  std::size_t depth = 0;  // of constructs inside each other
};

// More is unknown, whatever it is.
inline constexpr std::size_t kMostText = std::size_t{1} << 20U;
inline constexpr std::size_t kMostCommands = 10'000;
inline constexpr std::size_t kMostDepth = 100;

// Time and memory grow in proportion to the text.
Analysis Analyze(std::string_view text);

}  // namespace caisson::shell
