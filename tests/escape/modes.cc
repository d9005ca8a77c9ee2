// File types and mode bits that carry rights.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"
#include "escape/scratch.h"

namespace caisson::escape {
namespace {

constexpr long kFchmodat2 = 452;
constexpr mode_t kSetuid = S_ISUID | 0755;
constexpr mode_t kSetgid = S_ISGID | 0755;

Probe MakesNode(const char* name, mode_t type, unsigned major_number, unsigned minor_number) {
  return {name, "B7", std::string("make the device node of ") + name,
          [type, major_number, minor_number](const Context&) {
            const Scratch scratch;
            if (!scratch.valid()) return NotRun("no scratch directory");
            const std::string path = scratch.File("node");
            return FromReturn(
                ::syscall(SYS_mknodat, AT_FDCWD, path.c_str(), type | 0600, makedev(major_number, minor_number), 0));
          }};
}

// mknod(2) is another system call than mknodat(2).
Outcome MakeNodeOldCall(const Context&) {
  const Scratch scratch;
  if (!scratch.valid()) return NotRun("no scratch directory");
  return FromReturn(::syscall(SYS_mknod, scratch.File("node").c_str(), S_IFBLK | 0600, makedev(7, 0)));
}

// A probe that makes a file of its own and calls `change` on its path and descriptor.
Probe ChangesMode(const char* name, const char* act, long (*change)(const char* path, int fd)) {
  return {name, "D4", act, [change](const Context&) {
            const Scratch scratch;
            const std::string path = scratch.File("program");
            if (!scratch.valid() || !WriteSmallFile(path, "x")) return NotRun("no scratch file");
            const os::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
            if (!fd.valid()) return NotRun("cannot open the scratch file");
            return FromReturn(change(path.c_str(), fd.get()));
          }};
}

long Chmod(const char* path, int) { return ::syscall(SYS_chmod, path, kSetuid); }
long ChmodGroup(const char* path, int) { return ::syscall(SYS_chmod, path, kSetgid); }
long Fchmod(const char*, int fd) { return ::syscall(SYS_fchmod, fd, kSetuid); }
long Fchmodat(const char* path, int) { return ::syscall(SYS_fchmodat, AT_FDCWD, path, kSetuid); }
long Fchmodat2(const char* path, int) { return ::syscall(kFchmodat2, AT_FDCWD, path, kSetuid, 0); }

}  // namespace

Probes ModeProbes() {
  return {
      MakesNode("mknod_block", S_IFBLK, 7, 0),
      MakesNode("mknod_char", S_IFCHR, 1, 1),
      MakesNode("mknod_kmsg", S_IFCHR, 1, 11),
      {"mknod_old_call", "B7", "make a device node by mknod(2)", MakeNodeOldCall},
      ChangesMode("chmod_setuid", "set the setuid bit by chmod", Chmod),
      ChangesMode("chmod_setgid", "set the setgid bit by chmod", ChmodGroup),
      ChangesMode("fchmod_setuid", "set the setuid bit by fchmod", Fchmod),
      ChangesMode("fchmodat_setuid", "set the setuid bit by fchmodat", Fchmodat),
      ChangesMode("fchmodat2_setuid", "set the setuid bit by fchmodat2", Fchmodat2),
  };
}

}  // namespace caisson::escape
