// What Landlock alone would let through: its rights do not cover metadata. Mounts must. And Landlock itself.
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

// This program, which lies in a read-only workspace.
std::string ReadOnlyFile() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

Outcome ChangeMode(const Context&) { return FromReturn(::chmod(ReadOnlyFile().c_str(), 0755)); }

Outcome ChangeOwner(const Context&) {
  return FromReturn(::chown(ReadOnlyFile().c_str(), static_cast<uid_t>(-1), static_cast<gid_t>(-1)));
}

Outcome ChangeTimes(const Context&) { return FromReturn(::utimensat(AT_FDCWD, ReadOnlyFile().c_str(), nullptr, 0)); }

Outcome ChangeAttribute(const Context&) {
  return FromReturn(::setxattr(ReadOnlyFile().c_str(), "user.escape", "x", 1, 0));
}

// Refused with ETXTBSY where the file may be written but runs just now.
Outcome Truncate(const Context&) {
  struct stat status{};
  if (::stat(ReadOnlyFile().c_str(), &status) != 0) return NotRun("cannot find the program");
  return FromReturn(::truncate(ReadOnlyFile().c_str(), status.st_size));
}

// A descriptor opened for reading must not turn into one for writing by its name under /proc.
Outcome ReopenForWriting(const Context&) {
  const int fd = ::open("/usr/bin/pinky", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NotRun("no /usr/bin/pinky");
  return TryOpen("/proc/self/fd/" + std::to_string(fd), O_WRONLY);
}

// A process takes at most 16 domains one over the other, so one that has been given a domain takes fewer of its own:
// E2BIG. Source: landlock(7). Files are not what tells, since other protections refuse them too.
Outcome TakeAllDomains(const Context&) {
  constexpr int kMostDomains = 16;
  const landlock_ruleset_attr attributes{.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_BLOCK};
  const os::Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!rules.valid()) return Refused(errno, "create a ruleset");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Refused(errno, "no_new_privs");
  for (int i = 0; i < kMostDomains; ++i) {
    if (::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) return Refused(errno);
  }
  return Succeeded();
}

}  // namespace

Probes LandlockProbes() {
  return {
      {"read_only_chmod", "G3", "change the mode of a read-only file", ChangeMode},
      {"read_only_chown", "G3", "change the owner of a read-only file", ChangeOwner},
      {"read_only_utimes", "G3", "change the times of a read-only file", ChangeTimes},
      {"read_only_xattr", "G3", "change an attribute of a read-only file", ChangeAttribute},
      {"read_only_truncate", "G2", "truncate a read-only file", Truncate},
      {"read_only_reopen", "G8", "reopen a system file for writing through /proc", ReopenForWriting},
      {"landlock_domains", "G1", "be in no Landlock domain", TakeAllDomains},
  };
}

}  // namespace caisson::escape
