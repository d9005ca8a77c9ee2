#include "caisson/base/id.h"

#include <sys/random.h>

#include <array>
#include <cstdlib>

namespace caisson {
namespace {

constexpr std::string_view kPrefix = "sb_";
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";

}  // namespace

SandboxId SandboxId::Random() {
  std::array<unsigned char, kLength - kPrefix.size()> random{};
  // With fewer than 256 bytes and an initialised pool getrandom cannot fail or return less.
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) std::abort();
  std::string text(kPrefix);
  for (const unsigned char byte : random) text.push_back(kAlphabet[byte % kAlphabet.size()]);
  return SandboxId(std::move(text));
}

Result<SandboxId> SandboxId::Parse(std::string_view text) {
  const bool well_formed = text.size() == kLength && text.starts_with(kPrefix) &&
                           text.find_first_not_of(kAlphabet, kPrefix.size()) == std::string_view::npos;
  if (!well_formed) {
    return Fail(
        Error(Code::kInvalidArgument, "not a sandbox id").Because("an id is sb_ and 26 characters of a-z and 2-7"));
  }
  return SandboxId(std::string(text));
}

}  // namespace caisson
