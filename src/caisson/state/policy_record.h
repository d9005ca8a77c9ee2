#pragma once

#include <cstdint>
#include <string>

namespace caisson::state {

// What a policy is called, which is enough to show it.
struct PolicyName {
  std::string name;    // of a preset or a file
  std::string digest;  // SHA-256 of what it says, in hexadecimal
};

// The policy of a sandbox, as the layers above read it again.
struct PolicyRecord {
  PolicyName name;
  std::string format;  // "toml", "json", or "preset": TOML of a preset's own
  std::string text;
};

// More uses of a rule, of which there may be at most so many.
struct UseClaim {
  std::string rule;
  std::uint32_t most = 1;
  std::uint32_t count = 1;
};

}  // namespace caisson::state
