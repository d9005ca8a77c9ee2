#include "caisson/policy/wrapper.h"

#include <algorithm>
#include <utility>

#include "caisson/policy/variable.h"
#include "caisson/policy/wrapper_options.h"

namespace caisson::policy {
namespace {

using Words = std::span<const shell::Word>;
using Insides = std::vector<Inside>;

Inside Unknown(std::string why) {
  return {.kind = Inside::Kind::kUnknown, .words = {}, .text = std::move(why), .variables = {}, .moves = false};
}

Inside OfWords(Words words) {
  return {.kind = Inside::Kind::kWords,
          .words = std::vector<shell::Word>(words.begin(), words.end()),
          .text = {},
          .variables = {},
          .moves = false};
}

// What dash reads otherwise than bash: a text in which both see the same commands has none of these.
bool IsReadAlikeBySh(std::string_view text) {
  for (const std::string_view mark : {"$'", "[[", "|&", "&>", "<(", ">(", "<<<"}) {
    if (text.find(mark) != std::string_view::npos) return false;
  }
  for (std::size_t at = text.find("(("); at != std::string_view::npos; at = text.find("((", at + 1)) {
    if (at == 0 || text[at - 1] != '$') return false;
  }
  return true;
}

Inside OfText(std::string text, Inside::Kind kind) {
  if (kind == Inside::Kind::kShText && !IsReadAlikeBySh(text))
    return Unknown("a text that sh and bash read differently");
  return {.kind = kind, .words = {}, .text = std::move(text), .variables = {}, .moves = false};
}

// Those that take options and operands and then a command.
const std::vector<WrapperOptions>& PlainWrappers() {
  static const std::vector<WrapperOptions> wrappers = {
      {"nice", "", "n", {}, {"adjustment"}, 0},
      {"nohup", "", "", {}, {}, 0},
      {"timeout", "fpv", "ks", {"foreground", "preserve-status", "verbose"}, {"kill-after", "signal"}, 1},
      {"setsid", "cfw", "", {"ctty", "fork", "wait"}, {}, 0},
      {"stdbuf", "", "eio", {}, {"error", "input", "output"}, 0},
      {"ionice", "t", "cn", {"ignore"}, {"class", "classdata"}, 0},
      {"taskset", "ac", "", {"all-tasks", "cpu-list"}, {}, 1},
      {"chrt", "abfior", "DPT", {"batch", "fifo", "idle", "other", "rr"}, {}, 1},
      {"time", "apqv", "fo", {"append", "portability", "quiet", "verbose"}, {"format", "output"}, 0},
      {"unshare", "CTUcfimnpru", "", {"fork", "ipc", "map-root-user", "mount", "net", "pid", "user", "uts"}, {}, 0},
      {"sudo", "AEHPSbkn", "Cghprtu", {"non-interactive", "preserve-env", "set-home"}, {"group", "user"}, 0},
      {"doas", "n", "u", {}, {}, 0},
  };
  return wrappers;
}

// `env` and `sudo` take variables before the command. Whether the word is one, or could be.
bool TakeVariable(const shell::Word& word, Inside& inside) {
  const std::string& known = word.value ? *word.value : word.known_prefix;
  const std::size_t equals = known.find('=');
  if (equals == std::string::npos) return false;
  shell::Word value = word;
  if (word.value) value.value = known.substr(equals + 1);
  inside.variables.push_back({.name = known.substr(0, equals), .value = std::move(value)});
  return true;
}

Insides WithVariables(const GivenOptions& given, bool moves) {
  Inside inside;
  std::size_t at = 0;
  while (at < given.rest.size() && TakeVariable(given.rest[at], inside)) ++at;
  if (at == given.rest.size() && inside.variables.empty()) return {};
  inside.kind = Inside::Kind::kWords;
  inside.words.assign(given.rest.begin() + static_cast<std::ptrdiff_t>(at), given.rest.end());
  inside.moves = moves;
  return {std::move(inside)};
}

Insides OfEnv(Words arguments) {
  static const WrapperOptions options = {
      "env", "0iv", "Cu", {"debug", "ignore-environment", "null"}, {"chdir", "unset"}, 0};
  auto given = ReadOptions(options, arguments);
  if (!given) return {Unknown("an option of env that says what to run")};
  if (!given->rest.empty() && given->rest.front().value == "-") given->rest = given->rest.subspan(1);
  return WithVariables(*given, given->Has("C") || given->Has("chdir"));
}

shell::Word UnknownWord(std::string source, std::string prefix) {
  return {.value = std::nullopt, .source = std::move(source), .known_prefix = std::move(prefix)};
}

// Every word that holds `mark` is known only when it runs.
void ReplaceMark(std::vector<shell::Word>& words, std::string_view mark) {
  for (shell::Word& word : words) {
    if (!word.value) continue;
    const std::size_t at = word.value->find(mark);
    if (at != std::string::npos) word = UnknownWord(word.source, word.value->substr(0, at));
  }
}

Insides OfXargs(Words arguments) {
  static const WrapperOptions options = {
      "xargs",
      "0eiloprtx",
      "EILPadns",
      {"exit", "interactive", "no-run-if-empty", "null", "open-tty", "replace", "show-limits", "verbose"},
      {"arg-file", "delimiter", "max-args", "max-chars", "max-procs"},
      0};
  const auto given = ReadOptions(options, arguments);
  if (!given) return {Unknown("an option of xargs")};
  Inside inside = OfWords(given->rest);
  if (inside.words.empty()) inside.words.push_back({.value = "echo", .source = "echo", .known_prefix = {}});
  std::string mark;
  for (const GivenOption& option : given->options) {
    if (option.name == "I" || option.name == "replace" || option.name == "i") mark = option.value;
    if (option.name != "I" && mark.empty() && (option.name == "replace" || option.name == "i")) mark = "{}";
  }
  if (mark.empty()) {
    inside.words.push_back(UnknownWord("what it reads", ""));
  } else {
    ReplaceMark(inside.words, mark);
  }
  return {std::move(inside)};
}

Insides OfFind(Words arguments) {
  Insides insides;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const shell::Word& given = arguments[i];
    if (!given.value && given.known_prefix.empty() && given.source.find_first_of("$`") != std::string::npos) {
      insides.push_back(Unknown("an argument of find that may be -exec"));
    }
    const std::string word = arguments[i].value.value_or("");
    const bool moves = word == "-execdir" || word == "-okdir";
    if (word != "-exec" && word != "-ok" && !moves) continue;
    std::size_t end = i + 1;
    const auto ends = [&arguments](std::size_t at) {
      return arguments[at].value == ";" || (arguments[at].value == "+" && arguments[at - 1].value == "{}");
    };
    while (end < arguments.size() && !ends(end)) ++end;
    Inside inside = OfWords(arguments.subspan(i + 1, end - i - 1));
    ReplaceMark(inside.words, "{}");
    inside.moves = moves;
    insides.push_back(std::move(inside));
    i = end;
  }
  return insides;
}

Insides OfWatch(Words arguments) {
  static const WrapperOptions options = {
      "watch",      "bcegptwx", "n", {"beep", "chgexit", "color", "errexit", "exec", "no-title", "precise"},
      {"interval"}, 0};
  const auto given = ReadOptions(options, arguments);
  if (!given) return {Unknown("an option of watch")};
  if (given->rest.empty()) return {};
  if (given->Has("x") || given->Has("exec")) return {OfWords(given->rest)};
  std::string text;
  for (const shell::Word& word : given->rest) {
    if (!word.value) return {Unknown("the text that watch runs")};
    text += (text.empty() ? "" : " ") + *word.value;
  }
  return {OfText(std::move(text), Inside::Kind::kShText)};
}

Insides OfFlock(Words arguments) {
  static const WrapperOptions options = {"flock",
                                         "Feonsux",
                                         "Ew",
                                         {"close", "exclusive", "no-fork", "nonblock", "shared", "unlock", "verbose"},
                                         {"conflict-exit-code", "timeout"},
                                         1};
  const auto given = ReadOptions(options, arguments);
  if (!given || (!given->rest.empty() && !given->rest.front().value)) return {Unknown("an option of flock")};
  if (given->rest.size() < 2) return {};
  const Words rest = given->rest.subspan(1);
  if (rest.front().value != "-c" && rest.front().value != "--command") return {OfWords(rest)};
  if (rest.size() < 2 || !rest[1].value) return {Unknown("the text that flock runs")};
  return {OfText(*rest[1].value, Inside::Kind::kShText)};
}

// sh, bash and dash: the text of -c. Without it they read a file or what they are fed, which nothing is known of: a
// rule that allows the shell itself allows that.
Insides OfShell(std::string_view name, Words arguments) {
  bool takes_text = false;
  std::size_t at = 0;
  for (; at < arguments.size(); ++at) {
    const auto& word = arguments[at].value;
    if (!word) return {Unknown("an argument of " + std::string(name))};
    if (word->size() < 2 || (word->front() != '-' && word->front() != '+')) break;
    if (*word == "--" || *word == "--norc" || *word == "--noprofile") continue;
    if (word->find_first_not_of("+-Cceunxvfabhmopst") != std::string::npos || word->find('-', 1) != std::string::npos) {
      return {Unknown("an option of " + std::string(name))};
    }
    takes_text = takes_text || word->find('c') != std::string::npos;
    if (word->find('o') != std::string::npos) ++at;
  }
  if (!takes_text) return {};
  if (at >= arguments.size()) return {};
  return {OfText(*arguments[at].value, name == "bash" ? Inside::Kind::kBashText : Inside::Kind::kShText)};
}

Insides OfPlain(const WrapperOptions& wrapper, Words arguments) {
  // `nice -5`, as it was written before there was -n.
  const auto is_number = [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word.find_first_not_of("0123456789", 1) == std::string::npos;
  };
  if (wrapper.name == "nice" && !arguments.empty() && arguments[0].value && is_number(*arguments[0].value)) {
    arguments = arguments.subspan(1);
  }
  auto given = ReadOptions(wrapper, arguments);
  const std::string name(wrapper.name);
  if (!given) return {Unknown("an option of " + name)};
  for (std::size_t i = 0; i < std::min(wrapper.operands, given->rest.size()); ++i) {
    if (!given->rest[i].value) return {Unknown("an argument of " + name)};
  }
  given->rest = given->rest.subspan(std::min(wrapper.operands, given->rest.size()));
  if (wrapper.name == "sudo") return WithVariables(*given, false);
  if (given->rest.empty()) return {};
  return {OfWords(given->rest)};
}

}  // namespace

std::vector<Inside> InsideOf(std::string_view name, Words arguments) {
  if (name == "env") return OfEnv(arguments);
  if (name == "xargs") return OfXargs(arguments);
  if (name == "find") return OfFind(arguments);
  if (name == "watch") return OfWatch(arguments);
  if (name == "flock") return OfFlock(arguments);
  if (name == "sh" || name == "bash" || name == "dash") return OfShell(name, arguments);
  if (name == "chroot" && !arguments.empty()) return {Unknown("what runs below another root folder")};
  if (name == "busybox") {
    if (arguments.empty() || (arguments[0].value && arguments[0].value->starts_with('-'))) return {};
    return {OfWords(arguments)};
  }
  for (const WrapperOptions& wrapper : PlainWrappers()) {
    if (wrapper.name == name) return OfPlain(wrapper, arguments);
  }
  return {};
}

}  // namespace caisson::policy
