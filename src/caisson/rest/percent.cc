#include "caisson/rest/percent.h"

#include "caisson/base/utf8.h"

namespace caisson::rest {
namespace {

constexpr std::size_t kLongestPath = 4095;  // PATH_MAX without the last zero

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error BadText(const char* cause) {
  return Error(Code::kInvalidArgument, "the request's target is malformed").Because(cause);
}

}  // namespace

Result<std::string> PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = text.size() - i > 2 ? DigitOf(text[i + 1]) : -1;
    const int low = text.size() - i > 2 ? DigitOf(text[i + 2]) : -1;
    if (high < 0 || low < 0) return Fail(BadText("a % is not followed by two hexadecimal digits"));
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (out.find('\0') != std::string::npos) return Fail(BadText("it holds a zero byte"));
  if (!IsUtf8(out)) return Fail(BadText("it is not UTF-8"));
  return out;
}

Result<std::string> FilePathOf(std::string_view tail) {
  CAISSON_TRY(const std::string path, PercentDecode(tail));
  if (path.size() >= kLongestPath) {
    return Fail(Error(Code::kInvalidArgument, "the file's path is longer than 4095 bytes"));
  }
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == "..") {
      return Fail(Error(Code::kInvalidArgument, "the file's path has an empty part, '.' or '..'")
                      .Remedy("give the absolute path without its first slash, as in files/home/agent/x"));
    }
    if (part.size() == rest.size()) break;
    rest.remove_prefix(part.size() + 1);
    if (rest.empty()) {
      return Fail(Error(Code::kInvalidArgument, "the file's path ends in a slash").Remedy("leave it out"));
    }
  }
  return "/" + path;
}

}  // namespace caisson::rest
