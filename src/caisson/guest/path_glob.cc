#include "caisson/guest/path_glob.h"

#include <re2/re2.h>

#include <string>

#include "caisson/base/path_text.h"

namespace caisson::guest {
namespace {

// One character: of UTF-8, or one byte of what is none.
constexpr const char* kCharacter = "(?:[\\xC2-\\xF4][\\x80-\\xBF]{1,3}|[^/])";

std::string RegularExpression(std::string_view glob) {
  std::string pattern;
  while (!glob.empty()) {
    const bool begins_part = pattern.empty() || pattern.back() == '/' || pattern.ends_with("/)?");
    std::size_t length = 1;
    if (begins_part && glob.starts_with("**/")) {
      pattern += "(?:.*/)?";
      length = 3;
    } else if (glob.starts_with("**")) {
      pattern += ".*";
      length = 2;
    } else if (glob[0] == '*') {
      pattern += "[^/]*";
    } else if (glob[0] == '?') {
      pattern += kCharacter;
    } else {
      pattern += re2::RE2::QuoteMeta(glob.substr(0, 1));
    }
    glob.remove_prefix(length);
  }
  return pattern;
}

}  // namespace

PathGlob::PathGlob(std::string_view glob) : of_names_(glob.find('/') == std::string_view::npos) {
  if (glob.empty()) return;
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_dot_nl(true);
  pattern_ = std::make_unique<re2::RE2>(RegularExpression(glob), options);
}

PathGlob::~PathGlob() = default;

bool PathGlob::is_valid() const { return pattern_ == nullptr || pattern_->ok(); }

bool PathGlob::Matches(std::string_view path) const {
  if (pattern_ == nullptr) return true;
  const std::string_view looked_at = of_names_ ? LastPart(path) : path;
  return re2::RE2::FullMatch(looked_at, *pattern_);
}

}  // namespace caisson::guest
