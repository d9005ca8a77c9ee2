#include "caisson/policy/flag.h"

#include <algorithm>

namespace caisson::policy {
namespace {

// What is unknown of the word stands behind `known_prefix`, and no expansion makes several words of it.
bool KeepsItsBeginning(const shell::Word& word) { return word.source.find_first_of("$`") == std::string::npos; }

bool IsLong(std::string_view flag) { return flag.size() > 2 && flag.starts_with("--"); }
bool IsShort(std::string_view flag) { return flag.size() == 2 && flag[0] == '-' && flag[1] != '-'; }

Presence InWord(std::string_view flag, std::string_view word) {
  if (word == flag) return Presence::kYes;
  const std::string_view name = word.substr(0, word.find('='));
  if (name == flag && name.size() != word.size()) return Presence::kYes;
  if (IsLong(flag)) return name.size() > 2 && flag.starts_with(name) ? Presence::kMaybe : Presence::kNo;
  if (!IsShort(flag) || word.size() < 2 || word[0] != '-' || word[1] == '-') return Presence::kNo;
  if (word.find(flag[1], 1) == std::string_view::npos) return Presence::kNo;
  // Behind another character it may be the value of an option: "-ofile".
  const bool only_letters = std::all_of(word.begin() + 1, word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  return only_letters ? Presence::kYes : Presence::kMaybe;
}

}  // namespace

Presence FindFlag(std::string_view flag, std::span<const shell::Word> arguments) {
  Presence found = Presence::kNo;
  bool after_end = false;
  for (const shell::Word& word : arguments) {
    Presence here = Presence::kMaybe;
    if (word.value) {
      here = InWord(flag, *word.value);
      if (after_end) here = std::min(here, Presence::kMaybe);  // not every program ends its options there
      after_end = after_end || *word.value == "--";
    } else if (KeepsItsBeginning(word) && !word.known_prefix.empty() && word.known_prefix[0] != flag[0]) {
      here = Presence::kNo;
    }
    found = std::max(found, here);
  }
  return found;
}

}  // namespace caisson::policy
