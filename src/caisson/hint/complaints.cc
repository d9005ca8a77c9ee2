#include "caisson/hint/complaints.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <variant>

#include "caisson/base/utf8.h"

namespace caisson::hint {
namespace {

constexpr std::size_t kMostNameBytes = 200;

struct Quotes {
  std::string_view open;
  std::string_view close;
};
constexpr std::array<Quotes, 5> kQuotes = {
    {{"'", "'"}, {"\"", "\""}, {"\xE2\x80\x98", "\xE2\x80\x99"}, {"`", "'"}, {"`", "`"}}};

std::string Excerpt(const sandbox::CapturedOutput& output) {
  const std::string_view kept = output.kept;
  const std::string_view tail = output.tail;
  const std::string_view gap = output.total_bytes > kept.size() + tail.size() ? "\n" : "";
  const std::size_t most = kLookedAt.value;
  if (kept.size() + tail.size() <= 2 * most) return std::string(kept).append(gap).append(tail);
  const std::string_view beginning = kept.substr(0, most);
  const std::string_view end = tail.substr(tail.size() - std::min(tail.size(), most));
  const std::string_view rest = kept.substr(beginning.size());
  const std::string_view before_end = rest.substr(rest.size() - std::min(rest.size(), most - end.size()));
  return std::string(beginning).append("\n").append(before_end).append(gap).append(end);
}

// The first text in quotes.
std::string_view FirstQuoted(std::string_view text) {
  std::size_t first = std::string_view::npos;
  std::string_view found;
  for (const Quotes& quotes : kQuotes) {
    const std::size_t open = text.find(quotes.open);
    if (open >= first) continue;
    const std::size_t start = open + quotes.open.size();
    const std::size_t close = text.find(quotes.close, start);
    if (close == std::string_view::npos) continue;
    first = open;
    found = text.substr(start, close - start);
  }
  return found;
}

// The text in quotes at the very end.
std::string_view QuotedAtEnd(std::string_view text) {
  for (const Quotes& quotes : kQuotes) {
    if (!text.ends_with(quotes.close)) continue;
    const std::string_view inner = text.substr(0, text.size() - quotes.close.size());
    const std::size_t open = inner.rfind(quotes.open);
    if (open != std::string_view::npos) return inner.substr(open + quotes.open.size());
  }
  return {};
}

std::string_view TrimEnd(std::string_view text, std::string_view characters) {
  return text.substr(0, text.find_last_not_of(characters) + 1);
}

// "python3: can't open file 'x': [Errno 13] " ends with the number of an error.
std::string_view WithoutErrorNumber(std::string_view text) {
  if (!text.ends_with(']')) return text;
  const std::size_t open = text.rfind('[');
  return open == std::string_view::npos ? text : TrimEnd(text.substr(0, open), " :");
}

// Of "cannot create /x/y" the path.
std::string_view LastPath(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos) return text;
  const std::string_view last = text.substr(space + 1);
  return last.find('/') != std::string_view::npos && !text.starts_with('/') ? last : text;
}

bool IsVerb(std::string_view text) {
  return (text.starts_with("Cannot ") || text.starts_with("cannot ")) && text.find('/') == std::string_view::npos;
}

}  // namespace

std::string Complaints(const Evidence& evidence) {
  if (ExitedWith(evidence, 0)) return "";
  return Excerpt(evidence.command.terminal ? evidence.result.out : evidence.result.err);
}

bool ExitedWith(const Evidence& evidence, int code) {
  const auto* exited = std::get_if<sandbox::Exited>(&evidence.result.outcome);
  return exited != nullptr && exited->code == code;
}

std::optional<Phrase> FindPhrase(std::string_view line, std::initializer_list<std::string_view> phrases) {
  for (const std::string_view phrase : phrases) {
    const std::string_view rest = phrase.substr(1);
    for (std::size_t at = line.find(rest, 1); at != std::string_view::npos; at = line.find(rest, at + 1)) {
      const auto letter = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
      if (letter(line[at - 1]) == letter(phrase[0])) return Phrase{at - 1, phrase.size()};
    }
  }
  return std::nullopt;
}

std::string_view SubjectOf(std::string_view line, const Phrase& phrase) {
  if (const std::string_view quoted = FirstQuoted(line.substr(phrase.at + phrase.size)); !quoted.empty()) return quoted;
  const std::string_view before = WithoutErrorNumber(TrimEnd(line.substr(0, phrase.at), " :()"));
  if (const std::string_view quoted = QuotedAtEnd(before); !quoted.empty()) return quoted;
  Split split = SplitLast(before);
  if (IsVerb(split.after)) split = SplitLast(split.before);
  // What is left alone is the program that complains.
  if (split.before.empty()) return {};
  return LastPath(split.after);
}

Split SplitLast(std::string_view text) {
  const std::size_t at = text.rfind(": ");
  if (at == std::string_view::npos) return {{}, text};
  return {text.substr(0, at), text.substr(at + 2)};
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view WithoutQuotes(std::string_view text) {
  for (const Quotes& quotes : kQuotes) {
    if (text.size() > quotes.open.size() + quotes.close.size() && text.starts_with(quotes.open) &&
        text.ends_with(quotes.close)) {
      return text.substr(quotes.open.size(), text.size() - quotes.open.size() - quotes.close.size());
    }
  }
  return text;
}

std::string Named(std::string_view text) {
  std::string name = Printable(text.substr(0, kMostNameBytes));
  std::replace(name.begin(), name.end(), '`', '\'');
  if (name.size() > kMostNameBytes || text.size() > kMostNameBytes) {
    name.resize(std::min(name.size(), kMostNameBytes - 3));
    name.resize(WholeUtf8Length(name));
    name += "...";
  }
  return "`" + name + "`";
}

}  // namespace caisson::hint
