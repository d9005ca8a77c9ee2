#include "caisson/shell/bytes.h"

#include "caisson/base/utf8.h"

namespace caisson::shell {

std::optional<Unknown> CheckBytes(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_control = byte < 0x20 || byte == 0x7F;
    if (is_control && byte != '\t' && byte != '\n') return Unknown{.what = "a control character", .offset = at};
  }
  if (!IsUtf8(text)) return Unknown{.what = "bytes that are not UTF-8", .offset = 0};
  return std::nullopt;
}

}  // namespace caisson::shell
