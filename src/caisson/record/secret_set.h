#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace caisson::record {

// Whether a text is all there is, or was cut off behind.
enum class Ending { kWhole, kCut };

// A part of a text that must not be read, and the secret it is by its place in the caller's list.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t secret = 0;
};
inline constexpr std::size_t kNoSecret = SIZE_MAX;

// Finds any of many texts in one pass: the automaton of Aho and Corasick (CACM 18, 1975). Time is linear in the text,
// whatever both hold. Immutable after Finish, and then safe for concurrent use.
class SecretSet {
 public:
  // Of a text cut off behind, a beginning of a pattern as long as this is found at its end.
  static constexpr std::size_t kShortest = 4;

  SecretSet();
  // Before Finish. Shorter patterns are passed over: they would hide most of any text.
  void Add(std::string_view pattern, std::size_t secret);
  void Finish();

  bool empty() const { return nodes_.size() == 1; }
  // Appends what is found, by where it ends. Parts may overlap.
  void Find(std::string_view text, Ending ending, std::vector<Span>& found) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> next;
    std::uint32_t fallback = 0;
    std::uint32_t depth = 0;
    std::uint32_t longest = 0;  // of the patterns that end here; 0: none does
    std::size_t secret = kNoSecret;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t EdgeOf(std::uint32_t node, unsigned char byte) const;
  std::uint32_t Step(std::uint32_t node, unsigned char byte) const;

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 256> from_root_{};  // where nearly every byte of a text leads
};

}  // namespace caisson::record
