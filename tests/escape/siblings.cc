// Other spellings of refused calls: another call that does the same, bits the kernel drops and a filter must drop too,
// and the numbers of other call interfaces.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"
#include "escape/scratch.h"

namespace caisson::escape {
namespace {

constexpr unsigned long kHighBit = 1UL << 32U;
constexpr unsigned long kBad = 1;  // an address nothing is mapped at
constexpr unsigned long kAll = ~0UL;
constexpr unsigned long kX32 = 0x40000000UL;
constexpr unsigned long kMfdExec = 0x0010UL;

// A call by its bare arguments. `act` says what it would do.
Probe Calls(const char* name, const char* catalogue, const char* act, unsigned long number, unsigned long a,
            unsigned long b = 0, unsigned long c = 0) {
  return {name, catalogue, act, [number, a, b, c](const Context&) {
            return FromReturn(::syscall(static_cast<long>(number), a, b, c, 0UL, 0UL, 0UL));
          }};
}

Outcome CloneUserNamespaceHighBit(const Context&) {
  const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD | kHighBit, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) ::_exit(0);
  if (child < 0) return Refused(errno);
  ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return Succeeded();
}

// A probe that makes a file by `make` in a directory of its own, and has succeeded when that has the setuid bit.
Probe MakesSetuid(const char* name, const char* catalogue, const char* act, long (*make)(const char* path)) {
  return {name, catalogue, act, [make](const Context&) {
            const Scratch scratch;
            if (!scratch.valid()) return NotRun("no scratch directory");
            const std::string path = scratch.File("program");
            const long made = make(path.c_str());
            if (made < 0) return Refused(errno);
            ::close(static_cast<int>(made));
            struct stat status{};
            if (::stat(path.c_str(), &status) != 0) return NotRun("the file is gone");
            return (status.st_mode & S_ISUID) != 0 ? Succeeded() : Refused(EPERM, "made without the bit");
          }};
}

long Creat(const char* path) { return ::syscall(SYS_creat, path, S_ISUID | 0755U); }
long Open(const char* path) { return ::syscall(SYS_open, path, O_CREAT | O_WRONLY, S_ISUID | 0755U); }
long OpenAt(const char* path) { return ::syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY, S_ISUID | 0755U); }

// The mode is a 16-bit value to the kernel.
long OpenAtHighBits(const char* path) {
  return ::syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | kHighBit, S_ISUID | 0755U | kHighBit | 0x10000U);
}

Outcome ChmodHighBit(const Context&) {
  const Scratch scratch;
  const std::string path = scratch.File("program");
  if (!scratch.valid() || !WriteSmallFile(path, "x")) return NotRun("no scratch file");
  return FromReturn(::syscall(SYS_chmod, path.c_str(), S_ISUID | 0755U | kHighBit));
}

Outcome MakeNodeHighBit(const Context&) {
  const Scratch scratch;
  if (!scratch.valid()) return NotRun("no scratch directory");
  return FromReturn(
      ::syscall(SYS_mknodat, AT_FDCWD, scratch.File("node").c_str(), S_IFCHR | 0600U | kHighBit, makedev(1, 1), 0));
}

Probe BecomesRealTime(const char* name, const char* act, unsigned long policy) {
  return {name, "F5", act, [policy](const Context&) {
            sched_param parameters{};
            parameters.sched_priority = 1;
            return FromReturn(::syscall(SYS_sched_setscheduler, 0, policy, &parameters));
          }};
}

Outcome MakeExecutableMemfdHighBit(const Context&) {
  const os::Fd fd(static_cast<int>(::syscall(SYS_memfd_create, "program", kMfdExec | kHighBit)));
  return FromReturn(fd.get());
}

Probe OpensSocket(const char* name, const char* catalogue, const char* act, unsigned long type,
                  unsigned long protocol) {
  return {name, catalogue, act, [type, protocol](const Context&) {
            const os::Fd fd(static_cast<int>(::syscall(SYS_socket, AF_INET, type, protocol)));
            return FromReturn(fd.get());
          }};
}

#if defined(__x86_64__)
Probe CallsInt80(const char* name, const char* act, long number) {
  return {name, "F4", act, [number](const Context&) {
            long result = number;
            asm volatile("int $0x80" : "+a"(result) : "b"(0L), "c"(0L), "d"(0L) : "r8", "r9", "r10", "r11", "memory");
            return result >= 0 ? Succeeded() : Refused(static_cast<int>(-result));
          }};
}
#else
Probe CallsInt80(const char* name, const char* act, long) {
  return {name, "F4", act, [](const Context&) { return NotRun("x86-64 only"); }};
}
#endif

}  // namespace

Probes SiblingProbes() {
  constexpr unsigned long kListener = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  return {
      CallsInt80("int80_ptrace", "be traced, through the 32-bit gate", 26),
      CallsInt80("int80_socketcall", "use sockets through the 32-bit gate", 102),
      CallsInt80("int80_keyctl", "use key rings through the 32-bit gate", 288),
      Calls("x32_mount", "F4", "mount by an x32 number", kX32 + SYS_mount, kBad, kBad, kBad),
      Calls("x32_ptrace", "F4", "trace by an x32 number", kX32 + 521, kAll),
      Calls("number_high_bit", "F5", "mount, with bit 32 of the call's number set", SYS_mount | kHighBit, kBad, kBad,
            kBad),
      Calls("personality_high_bit", "F5", "turn address randomization off, with bit 32 set", SYS_personality,
            ADDR_NO_RANDOMIZE | kHighBit),
      Calls("unshare_high_bit", "F5", "unshare the user namespace, with bit 32 set", SYS_unshare,
            CLONE_NEWUSER | kHighBit),
      {"clone_high_bit", "F5", "clone into a new user namespace, with bit 32 set", CloneUserNamespaceHighBit},
      Calls("prctl_set_mm", "F7", "move its own memory areas", SYS_prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, kBad),
      Calls("prctl_set_mm_high_bit", "F5", "the same, with bit 32 set", SYS_prctl, PR_SET_MM | kHighBit,
            PR_SET_MM_MAP_SIZE, kBad),
      Calls("seccomp_listener", "F8", "have the calls of its children judged by itself", SYS_seccomp,
            SECCOMP_SET_MODE_FILTER, kListener, kBad),
      Calls("seccomp_listener_high_bit", "F5", "the same, with bit 32 set", SYS_seccomp,
            SECCOMP_SET_MODE_FILTER | kHighBit, kListener | kHighBit, kBad),
      MakesSetuid("creat_setuid", "F11", "make a setuid file by creat", Creat),
      MakesSetuid("open_setuid", "F11", "make a setuid file by open", Open),
      MakesSetuid("openat_setuid", "F11", "make a setuid file by openat", OpenAt),
      MakesSetuid("openat_setuid_high_bits", "F5", "the same, with bits 16 and 32 set", OpenAtHighBits),
      {"chmod_setuid_high_bit", "F5", "set the setuid bit by chmod, with bit 32 set", ChmodHighBit},
      {"mknod_high_bit", "F5", "make a device node, with bit 32 of the mode set", MakeNodeHighBit},
      BecomesRealTime("sched_fifo_high_bit", "take a real-time policy, with bit 32 set", SCHED_FIFO | kHighBit),
      BecomesRealTime("sched_fifo_reset", "take one that children do not inherit", SCHED_FIFO | SCHED_RESET_ON_FORK),
      {"memfd_exec_high_bit", "F5", "make an executable memfd, with bit 32 set", MakeExecutableMemfdHighBit},
      OpensSocket("socket_raw_high_bit", "F5", "open a raw socket, with bit 32 of the type set", SOCK_RAW | kHighBit,
                  IPPROTO_ICMP),
      OpensSocket("socket_sctp", "F6", "open an SCTP socket", SOCK_STREAM, IPPROTO_SCTP),
      OpensSocket("socket_udplite", "F6", "open a UDP-Lite socket", SOCK_DGRAM, IPPROTO_UDPLITE),
  };
}

}  // namespace caisson::escape
