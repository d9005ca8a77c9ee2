#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace caisson::fault {

// "mount_setattr"; the number for a call that is not known.
std::string CallName(int number);
// "ENOMEM"; the number for an errno that is not known.
std::string ErrorName(int error);
// The errno of that name, 0 when there is none.
int ErrorOf(std::string_view name);

// The ways in which such a call fails on a host that is full, strict or old, the likeliest first. Empty: only by an
// interruption.
std::vector<int> ErrorsOf(int number);

// True when signal(7) names the call among those that a signal can interrupt, on what Caisson makes it on: no openat(2)
// of a FIFO or a terminal, no fcntl(2) that waits for a lock.
bool CanBeInterrupted(int number);

// A call that is not failed, and why. Empty: it is.
std::string_view WhyNotFailed(std::string_view role, int number);

struct Exception {
  std::string_view role;  // empty: every role
  std::string_view call;
  std::string_view why;
};
const std::vector<Exception>& Exceptions();

}  // namespace caisson::fault
