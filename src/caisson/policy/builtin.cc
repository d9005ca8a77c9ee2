#include "caisson/policy/builtin.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "caisson/policy/variable.h"

namespace caisson::policy {
namespace {

using Words = std::span<const shell::Word>;
using Kind = BuiltinUse::Kind;

BuiltinUse Plain(Kind kind) { return {.kind = kind, .why = {}, .variables = {}, .words = {}, .text = {}}; }

BuiltinUse Unprovable(std::string why) {
  BuiltinUse use = Plain(Kind::kUnprovable);
  use.why = std::move(why);
  return use;
}

bool AllKnown(Words words) {
  return std::all_of(words.begin(), words.end(), [](const shell::Word& word) { return word.value.has_value(); });
}

// In double quotes without an array, so that it is one word whatever it expands to.
bool IsOneWord(const shell::Word& word) {
  if (word.value) return true;
  const std::string& source = word.source;
  return source.size() > 2 && source.front() == '"' && source.find('"', 1) == source.size() - 1 &&
         source.find_first_of("@*`!") == std::string::npos && source.find("$(") == std::string::npos;
}

bool IsAnyOf(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool IsArithmetic(std::string_view op) { return IsAnyOf(op, {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}); }
bool ComparesTexts(std::string_view op) { return IsAnyOf(op, {"=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"}); }
bool LooksAtVariables(std::string_view word) { return IsAnyOf(word, {"-v", "-R"}); }

bool IsNumber(const std::string& text) {
  const std::size_t start = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  return text.size() > start && text.find_first_not_of("0123456789", start) == std::string::npos;
}

bool IsNumber(const shell::Word& word) {
  return word.value ? IsNumber(*word.value) : IsAnyOf(word.source, {"$?", "$#", "\"$?\"", "\"$#\""});
}

// test and [: -v and -R evaluate a subscript, in which a command may stand.
BuiltinUse UseOfTest(std::string_view name, Words words) {
  if (name == "[" && !words.empty() && words.back().value == "]") words = words.first(words.size() - 1);
  Words operands = words;
  if (!operands.empty() && operands.front().value == "!") operands = operands.subspan(1);
  if (!AllKnown(operands)) {
    // With one unknown word the form is sure when the operator is, and when it stays one word.
    const bool one_word_each = std::all_of(operands.begin(), operands.end(), IsOneWord);
    const auto known = [&operands](std::size_t i) { return operands[i].value.value_or(""); };
    const bool unary =
        operands.size() == 2 && known(0).size() == 2 && known(0)[0] == '-' && !LooksAtVariables(known(0));
    const bool binary = operands.size() == 3 && ComparesTexts(known(1));
    if (one_word_each && (unary || binary)) return Plain(Kind::kSteers);
    const bool counts =
        operands.size() == 3 && IsNumber(operands[0]) && IsArithmetic(known(1)) && IsNumber(operands[2]);
    if (counts) return Plain(Kind::kSteers);
    return Unprovable("a test of what is not known before it runs");
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& word = *operands[i].value;
    if (LooksAtVariables(word)) return Unprovable("a test with " + word);
    const bool between = i > 0 && i + 1 < operands.size();
    if (between && IsArithmetic(word) && !(IsNumber(*operands[i - 1].value) && IsNumber(*operands[i + 1].value))) {
      return Unprovable("a comparison of what is no number");
    }
  }
  return Plain(Kind::kSteers);
}

// "NAME" or "NAME=value"; absent: neither, or not known.
std::optional<shell::Assignment> VariableOf(const shell::Word& word) {
  const std::string& known = word.value ? *word.value : word.known_prefix;
  std::size_t end = known.find('=');
  if (end == std::string::npos && !word.value) return std::nullopt;
  shell::Word value = word;
  if (word.value) value.value = end == std::string::npos ? std::string() : known.substr(end + 1);
  if (end != std::string::npos && end > 0 && known[end - 1] == '+') --end;
  std::string name = known.substr(0, end);
  if (!IsVariableName(name)) return std::nullopt;
  return shell::Assignment{.name = std::move(name), .value = std::move(value)};
}

// Those that take options and then variables. `flags` and `values`: the letters of options that only say how.
BuiltinUse UseOfNames(std::string_view flags, std::string_view values, Words words) {
  BuiltinUse use = Plain(Kind::kSteers);
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    const auto& word = words[at].value;
    if (!word || word->size() < 2 || word->front() != '-') break;
    if (*word == "--") {
      ++at;
      break;
    }
    for (std::size_t i = 1; i < word->size(); ++i) {
      if (values.find((*word)[i]) != std::string_view::npos) {
        if (i + 1 < word->size()) break;
        ++at;
        if (at >= words.size() || !IsOneWord(words[at])) {
          return Unprovable("an option whose value is not known");
        }
        break;
      }
      if (flags.find((*word)[i]) == std::string_view::npos) return Plain(Kind::kNeedsNamed);
    }
  }
  for (; at < words.size(); ++at) {
    auto variable = VariableOf(words[at]);
    if (!variable) return Unprovable("a variable whose name is not known, or no name");
    use.variables.push_back(*std::move(variable));
  }
  return use;
}

// What is read is not known: that a variable is set from it is judged as such.
BuiltinUse WithUnknownValues(BuiltinUse use) {
  for (shell::Assignment& variable : use.variables) variable.value.value.reset();
  return use;
}

// read -a NAME and mapfile are no exceptions: the value of -a is a name.
BuiltinUse UseOfRead(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i].value.value_or("");
    if (word.size() > 1 && word.front() == '-' && word.find('a') != std::string::npos) {
      if (word.back() != 'a' || i + 1 >= words.size() || !VariableOf(words[i + 1])) {
        return Unprovable("an array whose name is not known");
      }
    }
  }
  return WithUnknownValues(UseOfNames("aers", "dinNptu", words));
}

BuiltinUse UseOfPrintf(Words words) {
  BuiltinUse use = Plain(Kind::kNeedsRule);
  if (words.empty()) return use;
  const shell::Word& first = words.front();
  if (!first.value) {
    const bool may_be_option = first.known_prefix.empty() || first.known_prefix.front() == '-';
    return may_be_option ? Unprovable("a format that may be an option") : use;
  }
  if (!first.value->starts_with("-v")) return use;
  shell::Word name = first;
  if (first.value == "-v") {
    if (words.size() < 2) return use;
    name = words[1];
  } else {
    name.value = first.value->substr(2);
  }
  auto variable = VariableOf(name);
  if (!variable) return Unprovable("a variable whose name is not known, or no name");
  use.variables.push_back(*std::move(variable));
  return WithUnknownValues(std::move(use));
}

// Options of set and shopt that change neither how words are read nor what they start.
constexpr std::string_view kSetLetters = "eufvxCnmbaEThtP";
constexpr std::array<std::string_view, 15> kSetNames = {"errexit",  "nounset",   "pipefail",  "xtrace",   "verbose",
                                                        "noglob",   "noclobber", "allexport", "errtrace", "functrace",
                                                        "physical", "ignoreeof", "notify",    "monitor",  "hashall"};
constexpr std::array<std::string_view, 9> kShoptNames = {"nullglob",    "globstar",        "dotglob",
                                                         "nocaseglob",  "failglob",        "lastpipe",
                                                         "nocasematch", "inherit_errexit", "checkwinsize"};

BuiltinUse UseOfSet(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const shell::Word& word = words[i];
    if (!word.value) {
      if (word.known_prefix.empty() || word.known_prefix.front() == '-' || word.known_prefix.front() == '+') {
        return Unprovable("an option of set that is not known");
      }
      return Plain(Kind::kSteers);
    }
    if (*word.value == "--" || *word.value == "-") return Plain(Kind::kSteers);
    if (word.value->size() < 2 || (word.value->front() != '-' && word.value->front() != '+'))
      return Plain(Kind::kSteers);
    for (const char letter : word.value->substr(1)) {
      if (letter != 'o') {
        if (kSetLetters.find(letter) == std::string_view::npos) return Plain(Kind::kNeedsNamed);
        continue;
      }
      if (++i >= words.size()) return Plain(Kind::kSteers);  // only shows them
      if (std::find(kSetNames.begin(), kSetNames.end(), words[i].value.value_or("")) == kSetNames.end()) {
        return Plain(Kind::kNeedsNamed);
      }
    }
  }
  return Plain(Kind::kSteers);
}

BuiltinUse UseOfShopt(Words words) {
  for (const shell::Word& word : words) {
    const std::string text = word.value.value_or("");
    if (IsAnyOf(text, {"-s", "-u", "-q"})) continue;
    if (std::find(kShoptNames.begin(), kShoptNames.end(), text) == kShoptNames.end()) return Plain(Kind::kNeedsNamed);
  }
  return Plain(Kind::kSteers);
}

BuiltinUse RunsWords(Words words) {
  BuiltinUse use = Plain(words.empty() ? Kind::kSteers : Kind::kRunsWords);
  use.words.assign(words.begin(), words.end());
  return use;
}

// `command -v` and `command -V` only tell.
BuiltinUse UseOfCommand(Words words) {
  while (!words.empty() && words.front().value && words.front().value->starts_with('-')) {
    const std::string& word = *words.front().value;
    words = words.subspan(1);
    if (word == "--") break;
    if (IsAnyOf(word, {"-v", "-V", "-pv", "-pV"})) return Plain(Kind::kSteers);
    if (word != "-p") return Unprovable("an option of command");
  }
  return RunsWords(words);
}

BuiltinUse UseOfExec(Words words) {
  while (!words.empty() && words.front().value && words.front().value->starts_with('-')) {
    const std::string word = *words.front().value;
    words = words.subspan(1);
    if (word == "--") break;
    if (word != "-c") return Unprovable("an option of exec");  // -a and -l give a program another name
  }
  return RunsWords(words);
}

BuiltinUse UseOfEval(Words words) {
  if (!words.empty() && words.front().value == "--") words = words.subspan(1);
  if (!AllKnown(words)) return Unprovable("a text that eval runs");
  BuiltinUse use = Plain(Kind::kRunsText);
  for (const shell::Word& word : words) use.text += (use.text.empty() ? "" : " ") + *word.value;
  return use;
}

BuiltinUse UseOfTrap(Words words) {
  if (!words.empty() && words.front().value == "--") words = words.subspan(1);
  if (words.empty()) return Plain(Kind::kSteers);
  if (!words.front().value) return Unprovable("a text that trap runs");
  const std::string& text = *words.front().value;
  if (words.size() == 1 || IsAnyOf(text, {"", "-", "-p", "-l"})) return Plain(Kind::kSteers);
  BuiltinUse use = Plain(Kind::kRunsText);
  use.text = text;
  return use;
}

// Of these the options that are named, and operands that are known, only steer.
BuiltinUse WithOnly(std::string_view letters, Words words) {
  for (const shell::Word& word : words) {
    if (!word.value) return Unprovable("an option that is not known");
    if (word.value->size() < 2 || word.value->front() != '-') continue;
    if (word.value->find_first_not_of(letters, 1) != std::string::npos) return Plain(Kind::kNeedsNamed);
  }
  return Plain(Kind::kSteers);
}

using Judge = BuiltinUse (*)(Words);

const std::map<std::string_view, Judge>& Judges() {
  static constexpr Judge kSteers = [](Words) { return Plain(Kind::kSteers); };
  static constexpr Judge kRule = [](Words) { return Plain(Kind::kNeedsRule); };
  static constexpr Judge kNamed = [](Words) { return Plain(Kind::kNeedsNamed); };
  static constexpr Judge kDeclares = [](Words words) { return UseOfNames("xrgaAluIp", "", words); };
  static const std::map<std::string_view, Judge> judges = {
      {":", kSteers},
      {"true", kSteers},
      {"false", kSteers},
      {"cd", kSteers},
      {"pwd", kSteers},
      {"pushd", kSteers},
      {"popd", kSteers},
      {"dirs", kSteers},
      {"exit", kSteers},
      {"return", kSteers},
      {"break", kSteers},
      {"continue", kSteers},
      {"shift", kSteers},
      {"times", kSteers},
      {"caller", kSteers},
      {"type", kSteers},
      {"umask", kSteers},
      {"ulimit", kSteers},
      {"bg", kSteers},
      {"fg", kSteers},
      {"disown", kSteers},
      {"logout", kSteers},
      {"suspend", kSteers},
      {"help", kSteers},
      {"echo", kRule},
      {"kill", kRule},
      {".", kNamed},
      {"source", kNamed},
      {"alias", kNamed},
      {"unalias", kNamed},
      {"bind", kNamed},
      {"compgen", kNamed},
      {"complete", kNamed},
      {"compopt", kNamed},
      {"enable", kNamed},
      {"fc", kNamed},
      {"history", kNamed},
      {"let", kNamed},
      {"wait", [](Words words) { return WithOnly("fn", words); }},
      {"jobs", [](Words words) { return WithOnly("lnprs", words); }},
      {"hash", [](Words words) { return words.empty() ? Plain(Kind::kSteers) : WithOnly("r", words); }},
      {"declare", kDeclares},
      {"typeset", kDeclares},
      {"local", kDeclares},
      {"export", [](Words words) { return UseOfNames("np", "", words); }},
      {"readonly", [](Words words) { return UseOfNames("aAp", "", words); }},
      {"unset", [](Words words) { return UseOfNames("vfn", "", words); }},
      {"getopts",
       [](Words words) {
         return words.size() < 2 ? Plain(Kind::kSteers) : WithUnknownValues(UseOfNames("", "", words.subspan(1, 1)));
       }},
      {"read", UseOfRead},
      {"mapfile", [](Words words) { return WithUnknownValues(UseOfNames("t", "dnsu", words)); }},
      {"readarray", [](Words words) { return WithUnknownValues(UseOfNames("t", "dnsu", words)); }},
      {"printf", UseOfPrintf},
      {"set", UseOfSet},
      {"shopt", UseOfShopt},
      {"command", UseOfCommand},
      {"builtin", UseOfCommand},
      {"exec", UseOfExec},
      {"eval", UseOfEval},
      {"trap", UseOfTrap},
      {"test", [](Words words) { return UseOfTest("test", words); }},
      {"[", [](Words words) { return UseOfTest("[", words); }},
  };
  return judges;
}

}  // namespace

std::optional<BuiltinUse> UseOfBuiltin(std::string_view name, Words arguments) {
  const auto judge = Judges().find(name);
  if (judge == Judges().end()) return std::nullopt;
  return judge->second(arguments);
}

}  // namespace caisson::policy
