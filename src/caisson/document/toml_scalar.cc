#include "caisson/document/toml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "caisson/base/utf8.h"
#include "caisson/document/moment.h"

namespace caisson::document {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsWordCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '_' ||
         c == '.' || c == ':';
}

// "2027-01-01" in front.
bool BeginsWithDate(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !IsDigit(text[i]) : text[i] != kForm[i]) return false;
  }
  return true;
}

bool BeginsWithTime(std::string_view text) {
  return text.size() >= 3 && IsDigit(text[0]) && IsDigit(text[1]) && text[2] == ':';
}

// What stands before the next character that ends a number or a moment; a space may part a date from its time.
std::string_view WordAt(std::string_view text) {
  const auto end_from = [&](std::size_t begin) {
    while (begin < text.size() && IsWordCharacter(text[begin])) ++begin;
    return begin;
  };
  std::size_t end = end_from(0);
  if (end == 10 && BeginsWithDate(text) && text.substr(end).starts_with(' ') && BeginsWithTime(text.substr(end + 1))) {
    end = end_from(end + 1);
  }
  return text.substr(0, end);
}

// The digits without '_', each of which stands between two digits; nothing for what is not of this form.
std::optional<std::string> PlainDigits(std::string_view text, std::string_view digits) {
  std::string plain;
  bool may_part = false;
  for (const char c : text) {
    if (c == '_') {
      if (!may_part) return std::nullopt;
      may_part = false;
    } else if (digits.find(c) != std::string_view::npos) {
      plain += c;
      may_part = true;
    } else {
      return std::nullopt;
    }
  }
  if (!may_part) return std::nullopt;
  return plain;
}

constexpr std::string_view kDecimal = "0123456789";

struct Base {
  std::string_view prefix;
  std::string_view digits;
  int base;
};

constexpr Base kBases[] = {{"0x", "0123456789abcdefABCDEF", 16}, {"0o", "01234567", 8}, {"0b", "01", 2}};

class NumberReader {
 public:
  NumberReader(const TomlCursor& cursor, std::string_view word) : cursor_(cursor), word_(word) {}

  Result<Value::Content> Run() const {
    for (const Base& base : kBases) {
      if (!word_.starts_with(base.prefix)) continue;
      const auto digits = PlainDigits(word_.substr(base.prefix.size()), base.digits);
      return digits ? Whole(*digits, base.base) : None();
    }
    std::string_view rest = word_;
    std::string sign;
    if (rest.starts_with('+') || rest.starts_with('-')) {
      if (rest.front() == '-') sign = "-";
      rest.remove_prefix(1);
    }
    if (rest == "inf" || rest == "nan") {
      const double special =
          rest == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
      return Value::Content(sign.empty() ? special : -special);
    }
    const std::size_t end = std::min(rest.find_first_of(".eE"), rest.size());
    const auto whole = PlainDigits(rest.substr(0, end), kDecimal);
    if (!whole) return None();
    if (whole->size() > 1 && whole->front() == '0') return Fail(cursor_.Mistake("a number does not begin with 0"));
    if (end == rest.size()) return Whole(sign + *whole, 10);
    return Fraction(sign + *whole, rest.substr(end));
  }

 private:
  Result<Value::Content> None() const {
    return Fail(cursor_.Mistake(Quoted(word_) + " is no value; a text stands in quotes"));
  }

  Result<Value::Content> Whole(const std::string& digits, int base) const {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return Fail(cursor_.Mistake("a number is too large"));
    }
    return Value::Content(number);
  }

  // `rest` begins with the point or the exponent.
  Result<Value::Content> Fraction(std::string text, std::string_view rest) const {
    if (rest.starts_with('.')) {
      const std::size_t end = std::min(rest.find_first_of("eE"), rest.size());
      const auto digits = PlainDigits(rest.substr(1, end - 1), kDecimal);
      if (!digits) return None();
      text += "." + *digits;
      rest.remove_prefix(end);
    }
    if (!rest.empty()) {
      rest.remove_prefix(1);
      text += "e";
      if (rest.starts_with('+') || rest.starts_with('-')) {
        if (rest.front() == '-') text += "-";
        rest.remove_prefix(1);
      }
      const auto digits = PlainDigits(rest, kDecimal);
      if (!digits) return None();
      text += *digits;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      return Fail(cursor_.Mistake("a number is too large or too small"));
    }
    return Value::Content(number);
  }

  const TomlCursor& cursor_;
  std::string_view word_;
};

Result<Value::Content> MomentOfWord(const TomlCursor& cursor, std::string_view word) {
  if (const auto moment = ParseMoment(word)) return Value::Content(*moment);
  if (BeginsWithTime(word) || word.size() == 10) {
    return Fail(cursor.Mistake("a date or a time alone is no moment; write 2027-01-01T00:00:00Z"));
  }
  if (ParseMoment(std::string(word) + "Z")) {
    return Fail(cursor.Mistake("a time needs an offset from UTC; write 2027-01-01T00:00:00Z"));
  }
  return Fail(cursor.Mistake(Quoted(word) + " is no moment; write 2027-01-01T00:00:00Z"));
}

}  // namespace

Result<Value::Content> TakeTomlScalar(TomlCursor& cursor) {
  if (cursor.Peek() == '"' || cursor.Peek() == '\'') {
    CAISSON_TRY(std::string text, TakeTomlText(cursor, Lines::kMany));
    return Value::Content(std::move(text));
  }
  const std::string_view word = WordAt(cursor.rest());
  if (word.empty()) return Fail(cursor.Expected("a value"));
  const auto read = [&]() -> Result<Value::Content> {
    if (word == "true" || word == "false") return Value::Content(word == "true");
    if (BeginsWithDate(word) || BeginsWithTime(word)) return MomentOfWord(cursor, word);
    return NumberReader(cursor, word).Run();
  };
  CAISSON_TRY(Value::Content content, read());
  cursor.Skip(word.size());
  return content;
}

}  // namespace caisson::document
