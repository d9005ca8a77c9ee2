#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "caisson/base/result.h"

namespace caisson {

// Names one sandbox: "sb_" and 26 characters of [a-z2-7], 130 random bits. Safe as a file name,
// a cgroup name and a host name label.
class SandboxId {
 public:
  static constexpr std::size_t kLength = 29;

  // A new id from the kernel's random source (getrandom(2)).
  static SandboxId Random();
  // Errors: kInvalidArgument unless `text` has exactly the form above.
  static Result<SandboxId> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  auto operator<=>(const SandboxId&) const = default;

 private:
  explicit SandboxId(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace caisson
