#include "caisson/policy/wrapper_options.h"

#include <algorithm>

namespace caisson::policy {
namespace {

bool Holds(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Reads one word of options; `next` is the index of the word after it, which a value may take.
class OneWord {
 public:
  OneWord(const WrapperOptions& grammar, std::span<const shell::Word> arguments, std::size_t& next, GivenOptions& given)
      : grammar_(grammar), arguments_(arguments), next_(next), given_(given) {}

  bool Long(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string name(word.substr(0, equals));
    if (equals != std::string_view::npos) {
      if (!Holds(grammar_.long_values, name) && !Holds(grammar_.long_flags, name)) return false;
      given_.options.push_back({.name = name, .value = std::string(word.substr(equals + 1))});
      return true;
    }
    if (Holds(grammar_.long_values, name)) return TakeNext(name);
    given_.options.push_back({.name = name, .value = {}});
    return Holds(grammar_.long_flags, name);
  }

  bool Short(std::string_view letters) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const std::string name(1, letters[i]);
      const std::string attached(letters.substr(i + 1));
      if (grammar_.values.find(letters[i]) != std::string_view::npos) {
        if (attached.empty()) return TakeNext(name);
        given_.options.push_back({.name = name, .value = attached});
        return true;
      }
      if (grammar_.flags.find(letters[i]) == std::string_view::npos) return false;
      given_.options.push_back({.name = name, .value = {}});
    }
    return true;
  }

 private:
  bool TakeNext(const std::string& name) {
    if (next_ >= arguments_.size() || !arguments_[next_].value) return false;
    given_.options.push_back({.name = name, .value = *arguments_[next_++].value});
    return true;
  }

  const WrapperOptions& grammar_;
  std::span<const shell::Word> arguments_;
  std::size_t& next_;
  GivenOptions& given_;
};

}  // namespace

bool GivenOptions::Has(std::string_view name) const {
  return std::any_of(options.begin(), options.end(), [name](const GivenOption& option) { return option.name == name; });
}

std::optional<GivenOptions> ReadOptions(const WrapperOptions& grammar, std::span<const shell::Word> arguments) {
  GivenOptions given;
  std::size_t next = 0;
  while (next < arguments.size()) {
    const shell::Word& word = arguments[next];
    if (!word.value) {
      // What surely begins otherwise is the first operand.
      if (word.known_prefix.empty() || word.known_prefix.front() == '-') return std::nullopt;
      break;
    }
    const std::string_view text = *word.value;
    if (text.size() < 2 || text.front() != '-') break;
    ++next;
    if (text == "--") break;
    OneWord reader(grammar, arguments, next, given);
    if (!(text[1] == '-' ? reader.Long(text.substr(2)) : reader.Short(text.substr(1)))) return std::nullopt;
  }
  given.rest = arguments.subspan(next);
  return given;
}

}  // namespace caisson::policy
