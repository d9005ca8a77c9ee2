#include "caisson/base/utf8.h"
#include "caisson/document/mistake.h"
#include "caisson/document/read_format.h"

namespace caisson::document {
namespace {

// Where a text stops to be UTF-8. Lines are tried, so that no character is cut.
std::size_t FirstInvalid(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (!IsUtf8(text.substr(begin, end - begin))) break;
    begin = end;
  }
  return begin;
}

Status CheckBytes(std::string_view text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.size() > kMostBytes) return Fail(MistakeAt(name, {1, 1}, "the file is longer than 8MiB"));
  if (text.starts_with(kByteOrderMark)) return Fail(MistakeAt(name, {1, 1}, "the file begins with a byte order mark"));
  if (!IsUtf8(text)) return Fail(MistakeAt(name, PlaceAt(text, FirstInvalid(text)), "the line is not UTF-8"));
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) return Fail(MistakeAt(name, PlaceAt(text, zero), "there is a zero byte"));
  return {};
}

}  // namespace

Result<Value> Read(std::string_view text, Format format, std::string_view name) {
  CAISSON_CHECK_OK(CheckBytes(text, name));
  return format == Format::kToml ? ReadToml(text, name) : ReadJson(text, name);
}

}  // namespace caisson::document
