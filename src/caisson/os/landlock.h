#pragma once

#include <cstdint>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::os {

// The Landlock version of this kernel, 0 when it has none. Source: landlock(7).
int LandlockAbi();

// A set of Landlock rules that handles every file system right the kernel's version knows. Rights not granted by a
// rule are refused once the set is enforced. Kernel: 5.13; refer 5.19, truncate 6.2, device ioctl 6.10.
class LandlockRules {
 public:
  // Errors: kUnsupported when the kernel has no Landlock.
  static Result<LandlockRules> Make();

  // Every file system right this kernel's version knows.
  std::uint64_t handled() const { return handled_; }
  // Grants `rights` (those handled) below `path` of the calling process's root.
  Status Allow(const char* path, std::uint64_t rights);
  // Grants those of `rights` that a file of its type can have to what `place` is (O_PATH will do) and, of a folder, to
  // all below.
  Status AllowPlace(const Fd& place, std::uint64_t rights);
  // For landlock_restrict_self(2) by the process to be bound. Borrowed.
  int get() const { return rules_.get(); }

 private:
  LandlockRules(Fd rules, std::uint64_t handled) : rules_(std::move(rules)), handled_(handled) {}
  Fd rules_;
  std::uint64_t handled_;
};

}  // namespace caisson::os
