#include "caisson/record/key_shapes.h"

#include <algorithm>
#include <array>
#include <string>

namespace caisson::record {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestUserInfo = 512;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsAlnum(char c) { return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z'); }
bool IsUpperOrDigit(char c) { return IsDigit(c) || IsUpper(c); }
bool IsWord(char c) { return IsAlnum(c) || c == '_'; }
bool IsKey(char c) { return IsWord(c) || c == '-'; }
bool IsToken(char c) { return IsKey(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsQuote(char c) { return c == '"' || c == '\''; }
bool IsSpace(char c) { return IsBlank(c) || c == '\n' || c == '\r'; }

bool StartsWithLower(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) { return a == Lower(b); });
}

struct Shape {
  std::string_view prefix;
  bool (*may_follow)(char);
  std::size_t least;
  std::size_t most;
  bool is_mixed;  // a digit and an upper-case letter are in it: what tells it from words with hyphens
};

constexpr std::size_t kAnyLength = 1U << 16U;
constexpr std::array<Shape, 21> kShapes = {{
    {"AKIA", IsUpperOrDigit, 16, 16, false},      {"ASIA", IsUpperOrDigit, 16, 16, false},
    {"ghp_", IsAlnum, 30, kAnyLength, false},     {"gho_", IsAlnum, 30, kAnyLength, false},
    {"ghu_", IsAlnum, 30, kAnyLength, false},     {"ghs_", IsAlnum, 30, kAnyLength, false},
    {"ghr_", IsAlnum, 30, kAnyLength, false},     {"github_pat_", IsWord, 22, kAnyLength, false},
    {"glpat-", IsKey, 20, kAnyLength, false},     {"sk-ant-", IsKey, 16, kAnyLength, false},
    {"sk-", IsKey, 20, kAnyLength, true},         {"sk_live_", IsAlnum, 16, kAnyLength, false},
    {"sk_test_", IsAlnum, 16, kAnyLength, false}, {"rk_live_", IsAlnum, 16, kAnyLength, false},
    {"xoxb-", IsKey, 10, kAnyLength, false},      {"xoxa-", IsKey, 10, kAnyLength, false},
    {"xoxp-", IsKey, 10, kAnyLength, false},      {"xoxr-", IsKey, 10, kAnyLength, false},
    {"xoxs-", IsKey, 10, kAnyLength, false},      {"xoxe-", IsKey, 10, kAnyLength, false},
    {"AIza", IsKey, 35, kAnyLength, false},
}};

// The bytes that a shape begins with, or that stand between a name and its value.
constexpr std::array<bool, 256> FirstBytes() {
  std::array<bool, 256> first{};
  for (const char c : std::string_view(":= -ebB")) first[static_cast<unsigned char>(c)] = true;
  for (const Shape& shape : kShapes) first[static_cast<unsigned char>(shape.prefix[0])] = true;
  return first;
}

// What names of secrets end in, so that most are told from their last letter.
constexpr std::string_view kLastLetters = "denty";

// Looks through one text. Each function of a shape gives where what begins at a place ends, or 0. None looks back
// further than a name, nor ahead over more than it takes or a bounded part, so that the whole is linear.
class Search {
 public:
  Search(std::string_view text, Ending ending) : text_(text), ending_(ending) {}

  void Run(std::vector<Span>& found) {
    constexpr std::array<bool, 256> kBegins = FirstBytes();
    for (std::size_t i = 0; i < text_.size();) {
      if (!kBegins[static_cast<unsigned char>(text_[i])]) {
        ++i;
        continue;
      }
      const Span span = At(i);
      if (span.end > span.begin) found.push_back(span);
      i = std::max(i + 1, span.end);
    }
  }

 private:
  char Char(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  bool IsCutAt(std::size_t at) const { return ending_ == Ending::kCut && at == text_.size(); }
  std::size_t RunEnd(std::size_t from, bool (*belongs)(char), std::size_t most) const {
    const std::size_t last = std::min(text_.size(), from + most);
    std::size_t end = from;
    while (end < last && belongs(text_[end])) ++end;
    return end;
  }

  Span At(std::size_t i) const {
    switch (text_[i]) {
      case ':':
        if (text_.substr(i, 3) == "://") return PasswordOfUrl(i + 3);
        return Value(i);
      case '=':
      case ' ':
        return Value(i);
      case '-':
        return {.begin = i, .end = PrivateKey(i), .secret = kNoSecret};
      default:
        return {.begin = i, .end = IsAlnum(text_[i]) && BeginsWord(i) ? Key(i) : 0, .secret = kNoSecret};
    }
  }

  // Also behind an escape, \n or %20, the end of which looks like a letter.
  bool BeginsWord(std::size_t i) const {
    if (i == 0 || !IsKey(text_[i - 1])) return true;
    return (i >= 2 && text_[i - 2] == '\\') || (i >= 3 && text_[i - 3] == '%');
  }

  std::size_t Key(std::size_t i) const {
    const std::string_view rest = text_.substr(i);
    for (const Shape& shape : kShapes) {
      if (rest[0] != shape.prefix[0]) continue;
      if (rest.starts_with(shape.prefix)) {
        if (const std::size_t end = EndOf(shape, i)) return end;
      }
      const bool is_begun = ending_ == Ending::kCut && rest.size() >= 3 && shape.prefix.starts_with(rest);
      if (is_begun) return text_.size();
    }
    if (rest.starts_with("eyJ")) return WebToken(i);
    if (StartsWithLower(rest, "bearer ")) return Bearer(i);
    return 0;
  }

  std::size_t EndOf(const Shape& shape, std::size_t i) const {
    const std::size_t body = i + shape.prefix.size();
    const std::size_t end = RunEnd(body, shape.may_follow, shape.most);
    if (IsCutAt(end)) return end;
    if (end - body < shape.least || (shape.most == shape.least && IsWord(Char(end)))) return 0;
    const std::string_view key = text_.substr(body, end - body);
    const bool is_mixed = std::any_of(key.begin(), key.end(), IsDigit) && std::any_of(key.begin(), key.end(), IsUpper);
    return shape.is_mixed && !is_mixed ? 0 : end;
  }

  // Source: RFC 7515, three parts with a header that begins with {".
  std::size_t WebToken(std::size_t i) const {
    constexpr std::size_t kShortestPart = 8;
    std::size_t end = i;
    for (int part = 0; part < 3; ++part) {
      const std::size_t begin = part == 0 ? end : end + 1;
      if (part > 0 && Char(end) != '.') return IsCutAt(end) ? end : 0;
      end = RunEnd(begin, IsKey, kAnyLength);
      if (!IsCutAt(end) && end - begin < kShortestPart) return 0;
      if (IsCutAt(end)) return end;
    }
    return end;
  }

  std::size_t Bearer(std::size_t i) const {
    constexpr std::size_t kShortestToken = 16;
    const std::size_t begin = i + std::string_view("bearer ").size();
    const std::size_t end = RunEnd(begin, IsToken, kAnyLength);
    const std::string_view token = text_.substr(begin, end - begin);
    if (IsCutAt(end) && end > begin) return end;
    const bool looks_made = token.size() >= kShortestToken && std::any_of(token.begin(), token.end(), IsDigit);
    return looks_made ? end : 0;
  }

  // Source: RFC 7468. A key without an end reaches to the end of the text.
  std::size_t PrivateKey(std::size_t i) const {
    constexpr std::string_view kBegin = "-----BEGIN ";
    constexpr std::string_view kEnd = "-----END ";
    const std::string_view rest = text_.substr(i);
    if (!rest.starts_with(kBegin)) return 0;
    const std::string_view label = rest.substr(kBegin.size(), kLongestName);
    const std::size_t dashes = label.find("-----");
    const bool is_cut = dashes == std::string_view::npos && ending_ == Ending::kCut && label.size() < kLongestName;
    if (!is_cut && label.substr(0, dashes).find("PRIVATE KEY") == std::string_view::npos) return 0;
    const std::size_t end = rest.find(kEnd, kBegin.size());
    if (end == std::string_view::npos) return text_.size();
    const std::size_t behind = rest.substr(end + kEnd.size(), kLongestName).find("-----");
    return behind == std::string_view::npos ? text_.size() : i + end + kEnd.size() + behind + 5;
  }

  // `i`: behind "://". Source: RFC 3986, section 3.2.1.
  Span PasswordOfUrl(std::size_t i) const {
    const std::size_t last = std::min(text_.size(), i + kLongestUserInfo);
    std::size_t colon = 0;
    std::size_t at = 0;
    std::size_t end = i;
    for (; end < last; ++end) {
      const char c = text_[end];
      if (IsSpace(c) || c == '/' || c == '?' || c == '#' || c == '"' || c == '\'') break;
      if (c == ':' && colon == 0) colon = end;
      if (c == '@') at = end;
    }
    if (colon == 0) return {};
    if (at == 0 && IsCutAt(end) && !IsDigit(Char(colon + 1))) at = end;  // digits: a port
    if (at <= colon + 1) return {};
    return {.begin = colon + 1, .end = at, .secret = kNoSecret};
  }

  // The name before the separator at `i`.
  struct Name {
    std::string_view text;
    bool is_quoted = false;
    bool begins_line = false;
  };
  Name NameBefore(std::size_t i) const {
    std::size_t end = i;
    while (end > 0 && i - end < 8 && IsBlank(text_[end - 1])) --end;
    Name name;
    if (end > 0 && IsQuote(text_[end - 1])) {
      name.is_quoted = true;
      --end;
      if (end > 0 && text_[end - 1] == '\\') --end;
    }
    std::size_t begin = end;
    while (begin > 0 && end - begin < kLongestName && (IsKey(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
    name.text = text_.substr(begin, end - begin);
    std::size_t line = begin;
    while (line > 0 && begin - line < kLongestName && IsBlank(text_[line - 1])) --line;
    name.begins_line = line == 0 || text_[line - 1] == '\n' || text_[line - 1] == '\r';
    return name;
  }

  // The value behind the separator at `i`, when the name before it says that it is secret.
  Span Value(std::size_t i) const {
    const char separator = text_[i];
    if (i == 0) return {};
    const char before = text_[i - 1];
    const bool may_end_name = kLastLetters.find(Lower(before)) != std::string_view::npos;
    if (!may_end_name && (separator == ' ' || !(IsBlank(before) || IsQuote(before)))) return {};
    const Name name = NameBefore(i);
    if (!IsSecretName(name.text)) return {};
    if (separator == ' ' && !name.text.starts_with("--")) return {};
    const bool is_header = StartsWithLower(name.text, "authorization") || name.text.find('-') != std::string_view::npos;
    std::size_t begin = i + 1;
    while (begin < text_.size() && IsBlank(text_[begin]) && begin - i < kLongestName) ++begin;
    const std::size_t backslash = Char(begin) == '\\' && IsQuote(Char(begin + 1)) ? 1 : 0;
    const std::size_t quote = begin + backslash;
    const bool is_quoted = IsQuote(Char(quote));
    const bool is_assignment = separator != ':' || name.is_quoted || name.begins_line || is_header || is_quoted;
    if (!is_assignment || !MayBeValue(text_.substr(is_quoted ? quote + 1 : begin))) return {};
    if (is_quoted) return Checked(quote + 1, backslash == 1 ? EscapedQuoteEnd(quote) : QuoteEnd(quote));
    if (StartsWithLower(name.text, "authorization"))
      return {.begin = begin, .end = LineEnd(begin), .secret = kNoSecret};
    return Checked(begin, WordEnd(begin));
  }

  // `quote`: where the value is opened. One that is not closed ends with its line.
  std::size_t QuoteEnd(std::size_t quote) const {
    std::size_t end = quote + 1;
    while (end < text_.size() && text_[end] != text_[quote] && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    return std::min(end, text_.size());
  }
  std::size_t EscapedQuoteEnd(std::size_t quote) const {
    const std::array<char, 2> closing = {'\\', text_[quote]};
    const std::size_t end = text_.find(closing.data(), quote + 1, closing.size());
    return end == std::string_view::npos ? text_.size() : end;
  }
  std::size_t LineEnd(std::size_t from) const {
    const std::size_t end = text_.find_first_of("\r\n\"'", from);
    return end == std::string_view::npos ? text_.size() : end;
  }
  std::size_t WordEnd(std::size_t from) const {
    const std::size_t end = text_.find_first_of(" \t\r\n\"'&;,()<>\\", from);
    return end == std::string_view::npos ? text_.size() : end;
  }

  // Not a comparison, an address, a variable.
  static bool MayBeValue(std::string_view rest) {
    if (rest.empty() || rest[0] == '=' || rest[0] == ':' || rest[0] == '~' || rest.starts_with("//")) return false;
    return rest[0] != '$' || rest.size() == 1 || !(IsUpper(rest[1]) || rest[1] == '{' || rest[1] == '_');
  }

  // Nothing for a call and for a word that stands for no value.
  Span Checked(std::size_t begin, std::size_t end) const {
    const std::string_view value = text_.substr(begin, end - begin);
    if (value.size() <= kLongestName && Char(end) == '(') return {};
    for (const std::string_view word : {"null", "none", "true", "false", "None", "True", "False", "nullptr"}) {
      if (value == word) return {};
    }
    return {.begin = begin, .end = end, .secret = kNoSecret};
  }

  std::string_view text_;
  Ending ending_;
};

}  // namespace

bool IsSecretName(std::string_view name) {
  if (name.size() < 5 || name.size() > 2 * kLongestName ||
      kLastLetters.find(Lower(name.back())) == std::string_view::npos) {
    return false;
  }
  std::string letters;
  for (const char c : name) {
    if (IsAlnum(c)) letters += Lower(c);
  }
  const auto ends_with = [&letters](std::string_view end) { return letters.ends_with(end); };
  constexpr std::array<std::string_view, 10> kEnds = {"password",   "passwd",       "passphrase", "secret",
                                                      "token",      "apikey",       "accesskey",  "secretkey",
                                                      "privatekey", "authorization"};
  if (std::any_of(kEnds.begin(), kEnds.end(), ends_with)) return true;
  return name.size() > 4 && letters.ends_with("pwd") && !IsAlnum(name[name.size() - 4]);
}

void FindKeyShapes(std::string_view text, Ending ending, std::vector<Span>& found) { Search(text, ending).Run(found); }

}  // namespace caisson::record
