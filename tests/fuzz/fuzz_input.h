#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

// The one function of every target: feeds one input to what it tests. Returns 0; ends the process when a promise is
// broken. Called by libFuzzer, or by corpus_main.cc for each file of a corpus.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace caisson::fuzz {

// Reads the parts of one input from its front. At the end every number is 0 and every text empty, so that any input
// means something.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  // In the byte order of the machine, as in the structs that cross the sockets.
  template <typename Number>
  Number Take() {
    static_assert(std::is_trivially_copyable_v<Number>);
    Number number{};
    const std::string_view bytes = TakeBytes(sizeof number);
    bytes.copy(reinterpret_cast<char*>(&number), bytes.size());  // also of nothing, which memcpy must not be given
    return number;
  }
  // At most `count` bytes.
  std::string_view TakeBytes(std::size_t count) {
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  // A length of two bytes and as much text as is there of it.
  std::string_view TakeText() { return TakeBytes(Take<std::uint16_t>()); }
  std::string_view TakeRest() { return TakeBytes(rest_.size()); }
  // What stands before the next `end`, which is passed over.
  std::string_view TakeUntil(char end) {
    const std::string_view part = rest_.substr(0, rest_.find(end));
    rest_.remove_prefix(std::min(rest_.size(), part.size() + 1));
    return part;
  }

 private:
  std::string_view rest_;
};

// A promise that the target holds its subject to; `promise` is what the report of a failure says.
inline void Require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace caisson::fuzz
