#include "caisson/os/identity.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace caisson::os {

Status RequireRoot(const std::string& purpose) {
  if (geteuid() == 0) return {};
  return Fail(Error(Code::kUnsupported, "Caisson needs root to " + purpose)
                  .Because("this process runs as uid " + std::to_string(geteuid()))
                  .Remedy("run it as root, for example with sudo")
                  .Detail("primitive", "root privileges"));
}

Status DropBoundingSet() {
  unsigned long capability = 0;
  for (; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      return Fail(Error::FromErrno(errno, "cannot drop a capability"));
    }
  }
  // Past the last one, which is none of those known here; any other error says nothing of those that follow.
  if (errno != EINVAL || capability <= CAP_LAST_CAP) {
    return Fail(Error::FromErrno(errno, "cannot read the bounding set"));
  }
  return {};
}

Status DropCapabilities() {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    return Fail(Error::FromErrno(errno, "cannot clear the ambient capabilities"));
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none{};
  if (syscall(SYS_capset, &header, none.data()) != 0) {
    return Fail(Error::FromErrno(errno, "cannot drop the capabilities"));
  }
  return {};
}

Status KeepOnlyCapabilities(std::initializer_list<unsigned> kept) {
  std::array<__user_cap_data_struct, 2> sets{};
  for (const unsigned capability : kept) sets[capability / 32].permitted |= 1U << capability % 32;
  for (__user_cap_data_struct& set : sets) set.effective = set.permitted;
  for (unsigned capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (std::find(kept.begin(), kept.end(), capability) != kept.end()) continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      return Fail(Error::FromErrno(errno, "cannot drop a capability"));
    }
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 || syscall(SYS_capset, &header, sets.data()) != 0 ||
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Fail(Error::FromErrno(errno, "cannot drop the capabilities"));
  }
  return {};
}

Status BecomeEngineUser() {
  if (setgroups(0, nullptr) != 0) return Fail(Error::FromErrno(errno, "cannot drop the groups"));
  // Before the uid changes: this needs CAP_SETPCAP.
  CAISSON_CHECK_OK(DropBoundingSet());
  if (setresgid(kEngineUid, kEngineUid, kEngineUid) != 0) {
    return Fail(Error::FromErrno(errno, "cannot change the group"));
  }
  if (setresuid(kEngineUid, kEngineUid, kEngineUid) != 0) {
    return Fail(Error::FromErrno(errno, "cannot change the user"));
  }
  CAISSON_CHECK_OK(DropCapabilities());
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Fail(Error::FromErrno(errno, "cannot set no_new_privs"));
  }
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return Fail(Error::FromErrno(errno, "cannot stop being dumpable"));
  return {};
}

}  // namespace caisson::os
