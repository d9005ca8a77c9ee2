#pragma once

#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>

#include "caisson/guest/lockdown.h"

namespace caisson::guest {

// Makes files as another user for as long as it exists: pipes and terminals belong to the command, so that it can open
// /dev/stdout and the like again. For PID 1 of a sandbox after LockDown, which may change ids; it ends if it cannot.
class AsUser {
 public:
  explicit AsUser(std::uint32_t id) { Become(id); }
  ~AsUser() { Become(kGuestId); }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

 private:
  static constexpr auto kNoId = static_cast<std::uint32_t>(-1);

  static void Become(std::uint32_t id) {
    setfsgid(id);
    setfsuid(id);
    // Neither says whether it did: with an id that there is none of, both tell the present one. Source: setfsuid(2).
    if (setfsgid(kNoId) != static_cast<int>(id) || setfsuid(kNoId) != static_cast<int>(id)) _exit(1);
    // With each change of these ids the kernel forgets both, which LockDown has set. Source: commit_creds() in Linux.
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  }
};

}  // namespace caisson::guest
