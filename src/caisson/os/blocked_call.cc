#include "caisson/os/blocked_call.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace caisson::os {
namespace {

std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

template <typename Number>
bool ReadNumber(std::string_view word, int base, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  return error == std::errc() && end == word.data() + word.size();
}

std::optional<int> AsDescriptor(std::uint64_t argument) {
  // The kernel takes the lower half of the register.
  const auto fd = static_cast<std::uint32_t>(argument);
  if (fd > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) return std::nullopt;
  return static_cast<int>(fd);
}

}  // namespace

std::optional<BlockedCall> ParseBlockedCall(std::string_view text) {
  BlockedCall call;
  if (!ReadNumber(TakeWord(text), 10, call.number) || call.number < 0) return std::nullopt;
  for (std::uint64_t& argument : call.arguments) {
    const std::string_view word = TakeWord(text);
    if (!word.starts_with("0x") || !ReadNumber(word.substr(2), 16, argument)) return std::nullopt;
  }
  return call;
}

std::optional<BlockedCall> BlockedCallOf(const Fd& process_folder) {
  const Fd file(openat(process_folder.get(), "syscall", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return std::nullopt;
  std::array<char, 256> text{};
  const ssize_t n = read(file.get(), text.data(), text.size());
  if (n <= 0) return std::nullopt;
  return ParseBlockedCall({text.data(), static_cast<std::size_t>(n)});
}

std::optional<int> AwaitedDescriptor(const BlockedCall& call) {
  switch (call.number) {
    case SYS_read:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_splice:
    case SYS_tee:
      return AsDescriptor(call.arguments[0]);
    case SYS_sendfile:
      return AsDescriptor(call.arguments[1]);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
      // With a count of one, the set to read from can hold descriptor 0 only.
      if (static_cast<std::uint32_t>(call.arguments[0]) == 1 && call.arguments[1] != 0) return 0;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace caisson::os
