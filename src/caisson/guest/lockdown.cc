#include "caisson/guest/lockdown.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "caisson/base/weakened.h"
#include "caisson/os/identity.h"

namespace caisson::guest {
namespace {

Status Control(const char* what, int option, unsigned long value) {
  if (prctl(option, value, 0, 0, 0) != 0) return Fail(Error::FromErrno(errno, what));
  return {};
}

Status KeepOnly(unsigned capabilities) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> sets{{{capabilities, capabilities, 0}, {0, 0, 0}}};
  if (syscall(SYS_capset, &header, sets.data()) != 0) return Fail(Error::FromErrno(errno, "keep capabilities"));
  return {};
}

Status LoadFilter(const std::string& filter) {
  if (filter.empty() || filter.size() % sizeof(sock_filter) != 0) {
    return Fail(Error(Code::kInternal, "the system call filter is malformed"));
  }
  const sock_fprog program{static_cast<unsigned short>(filter.size() / sizeof(sock_filter)),
                           reinterpret_cast<sock_filter*>(const_cast<char*>(filter.data()))};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    return Fail(Error::FromErrno(errno, "load the system call filter"));
  }
  return {};
}

// The rights of root over its ids are ours to give up; KEEP_CAPS is not needed with NO_SETUID_FIXUP.
constexpr unsigned long kSecureBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                      SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                      SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

constexpr unsigned kKept = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_KILL;

}  // namespace

Status LockDown(const std::string& filter) {
  if (!Weakened("bounding_set")) {
    CAISSON_CHECK_OK(os::DropBoundingSet());
  }
  if (!Weakened("secure_bits")) {
    CAISSON_CHECK_OK(Control("set the secure bits", PR_SET_SECUREBITS, kSecureBits));
  }
  if (setgroups(0, nullptr) != 0) return Fail(Error::FromErrno(errno, "drop the groups"));
  if (setresgid(kGuestId, kGuestId, kGuestId) != 0) return Fail(Error::FromErrno(errno, "change the group"));
  if (setresuid(kGuestId, kGuestId, kGuestId) != 0) return Fail(Error::FromErrno(errno, "change the user"));
  if (!Weakened("guest_capabilities")) {
    CAISSON_CHECK_OK(KeepOnly(kKept));
  }
  // After the ids: changing them resets both.
  CAISSON_CHECK_OK(Control("stop being dumpable", PR_SET_DUMPABLE, 0));
  CAISSON_CHECK_OK(Control("die with the launcher", PR_SET_PDEATHSIG, SIGKILL));
  if (!Weakened("no_new_privs")) {
    CAISSON_CHECK_OK(Control("set no_new_privs", PR_SET_NO_NEW_PRIVS, 1));
  }
  return Weakened("guest_filter") ? Status() : LoadFilter(filter);
}

}  // namespace caisson::guest
