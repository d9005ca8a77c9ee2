#include "caisson/client/target.h"

namespace caisson::client {
namespace {

std::string Encode(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (is_alphanumeric || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out;
}

}  // namespace

std::string EncodeSegment(std::string_view text) { return Encode(text, "-._~"); }
std::string EncodePath(std::string_view text) { return Encode(text, "-._~/"); }

std::string SandboxTarget(std::string_view sandbox, std::string_view rest) {
  return "/v1/sandboxes/" + EncodeSegment(sandbox) + std::string(rest);
}

}  // namespace caisson::client
