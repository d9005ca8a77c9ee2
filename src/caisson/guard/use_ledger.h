#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::guard {

// How often the rules of one sandbox's policy were used. Thread-safe. A use is counted when it is given, whatever the
// command does with it.
class UseLedger {
 public:
  virtual ~UseLedger() = default;
  struct Claim {
    std::string rule;  // its name
    std::uint32_t most = 1;
    std::uint32_t count = 1;  // so many uses at once
  };
  virtual Result<std::uint32_t> Used(const std::string& rule) = 0;
  // Counts the uses of all, or of none: false when one of them has fewer left. No rule is in it twice. Atomic, and
  // durable when it returns, as far as the ledger is.
  virtual Result<bool> Take(const std::vector<Claim>& claims) = 0;
};

// Of a sandbox that does not outlive this process.
class MemoryLedger : public UseLedger {
 public:
  Result<std::uint32_t> Used(const std::string& rule) override;
  Result<bool> Take(const std::vector<Claim>& claims) override;

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint32_t> used_;
};

}  // namespace caisson::guard
