#include "caisson/policy/pattern.h"
#include "caisson/base/path_text.h"

#include <algorithm>
#include <charconv>

#include "caisson/base/utf8.h"

namespace caisson::policy {
namespace {

constexpr std::size_t kLongest = 4096;  // PATH_MAX
constexpr std::size_t kMostWords = 32;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

tl::unexpected<Error> Must(std::string must) { return Fail(Error(Code::kInvalidArgument, std::move(must))); }

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

bool IsPort(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

bool IsHostName(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return host.find_first_not_of("0123456789abcdef:.", 1) == host.size() - 1;
  }
  return !host.empty() && host.size() <= 253 && host.front() != '.' && host.back() != '.' && host.front() != '-' &&
         host.find("..") == std::string_view::npos && std::all_of(host.begin(), host.end(), [](char c) {
           return IsLetter(c) || IsDigit(c) || c == '-' || c == '.' || c == '_';
         });
}

// One part of a path, without '/': '*' and '?' as in a shell. Linear but for going back to the last '*'.
bool PartMatches(std::string_view pattern, std::string_view part) {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_at = 0;
  std::size_t i = 0;
  while (i < part.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_at = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == part[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++star_at;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::vector<std::string_view> PartsOf(std::string_view path) {
  std::vector<std::string_view> parts;
  while (path.size() > 1) {
    path.remove_prefix(1);
    parts.push_back(path.substr(0, path.find('/')));
    path.remove_prefix(parts.back().size());
  }
  return parts;
}

// "**" as a part is any number of parts; otherwise part by part, going back only to the last "**".
bool GlobMatches(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> wanted = PartsOf(pattern);
  const std::vector<std::string_view> given = PartsOf(path);
  std::size_t at = 0;
  std::size_t i = 0;
  std::optional<std::size_t> any;
  std::size_t any_at = 0;
  while (i < given.size()) {
    if (at < wanted.size() && wanted[at] == "**") {
      any = at++;
      any_at = i;
    } else if (at < wanted.size() && PartMatches(wanted[at], given[i])) {
      ++at;
      ++i;
    } else if (any) {
      at = *any + 1;
      i = ++any_at;
    } else {
      return false;
    }
  }
  while (at < wanted.size() && wanted[at] == "**") ++at;
  return at == wanted.size();
}

}  // namespace

bool PathPattern::Matches(std::string_view path) const {
  switch (kind) {
    case Kind::kExact:
      return path == text;
    case Kind::kBelow:
      return IsBelow(path, text);
    case Kind::kGlob:
      break;
  }
  return GlobMatches(text, path);
}

Result<PathPattern> ParsePathPattern(std::string_view text) {
  if (text.size() > kLongest || HasControl(text)) return Must("must hold paths without control characters");
  PathPattern pattern;
  pattern.text = text;
  if (text == "/**") {
    pattern.kind = PathPattern::Kind::kBelow;
    pattern.text = "/";
    return pattern;
  }
  if (!IsNormalPath(text)) {
    return Must("must hold absolute paths without \".\", \"..\" and double slashes, such as \"/tmp/**\", not " +
                Quoted(text));
  }
  const std::string_view folder = text.ends_with("/**") ? text.substr(0, text.size() - 3) : text;
  if (text.find_first_of("[]{}\\") != std::string_view::npos) {
    return Must("must hold patterns of *, ? and ** only, not " + Quoted(text));
  }
  if (folder.find_first_of("*?") != std::string_view::npos) {
    pattern.kind = PathPattern::Kind::kGlob;
  } else if (folder.size() != text.size()) {
    pattern.kind = PathPattern::Kind::kBelow;
    pattern.text = folder;
  }
  return pattern;
}

Result<CommandPattern> ParseCommandPattern(std::string_view text) {
  CommandPattern pattern;
  if (text.size() > kLongest || HasControl(text)) return Must("must hold words without control characters");
  if (text == "./**") {
    pattern.is_workspace_programs = true;
    return pattern;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
    if (!word.empty()) pattern.words.emplace_back(word);
  }
  if (pattern.words.empty()) return Must("must hold commands, such as \"git\" or \"git push\"");
  if (pattern.words.size() > kMostWords) return Must("must hold commands of at most 32 words");
  const std::string& first = pattern.words.front();
  if (first.find('/') != std::string::npos && !IsNormalPath(first)) {
    return Must("must begin with a name, an absolute path without \".\" and \"..\", or be \"./**\", not " +
                Quoted(text));
  }
  for (const std::string& word : pattern.words) {
    if (word.find_first_of("*?[]{}'\"\\$`|&;<>()") != std::string::npos && word != "[") {
      return Must("must hold plain words: there are no patterns and no quotes in them, unlike in " + Quoted(text));
    }
  }
  return pattern;
}

Result<std::string> ParseHostPattern(std::string_view text) {
  std::string lower = Lower(text);
  const std::size_t colon = lower.rfind(':');
  const std::string_view view = lower;
  if (colon != std::string::npos) {
    const std::string_view port = view.substr(colon + 1);
    std::string_view host = view.substr(0, colon);
    if (host.starts_with("*.")) host.remove_prefix(2);
    if ((port == "*" || IsPort(port)) && IsHostName(host)) return lower;
  }
  return Must("must hold \"HOST:PORT\", \"*.HOST:PORT\" or \"HOST:*\", not " + Quoted(text));
}

bool HostMatches(std::string_view pattern, std::string_view target) {
  std::string lower = Lower(target);
  const std::size_t colon = lower.rfind(':');
  const std::size_t pattern_colon = pattern.rfind(':');
  if (colon == std::string::npos || pattern_colon == std::string_view::npos) return false;
  std::string_view host = std::string_view(lower).substr(0, colon);
  const std::string_view port = std::string_view(lower).substr(colon + 1);
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view wanted_port = pattern.substr(pattern_colon + 1);
  if (wanted_port != "*" && wanted_port != port) return false;
  const std::string_view wanted = pattern.substr(0, pattern_colon);
  if (!wanted.starts_with("*.")) return host == wanted;
  return host.size() > wanted.size() - 1 && host.ends_with(wanted.substr(1));
}

bool IsSecretName(std::string_view text) {
  return !text.empty() && text.size() <= 255 && !IsDigit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
}

}  // namespace caisson::policy
