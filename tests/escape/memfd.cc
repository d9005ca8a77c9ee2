// Programs that never lie in a file system, and so on no list of what may be executed.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

// Newer than the oldest headers we build with (Linux 6.3).
constexpr unsigned kMfdNoexecSeal = 0x0008U;
constexpr unsigned kMfdExec = 0x0010U;

os::Fd MakeMemfd(unsigned flags) { return os::Fd(static_cast<int>(::syscall(SYS_memfd_create, "program", flags))); }

// This program copied into `fd`. False when it cannot be.
bool FillWithProgram(int fd) {
  const std::string program = Content("/proc/self/exe", 1U << 26U);
  std::size_t written = 0;
  while (written < program.size()) {
    const ssize_t count = ::write(fd, program.data() + written, program.size() - written);
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return written > 0;
}

// Executes `fd` in a child. The program ends with 0 when told that a uid is not its own.
Outcome Execute(int fd) {
  if (!FillWithProgram(fd)) return NotRun("cannot write the program");
  const int status = ExitStatusOf([fd] {
    char name[] = "escape_probe";
    char option[] = "--is-not-uid";
    char uid[] = "-1";
    char* arguments[] = {name, option, uid, nullptr};
    char* environment[] = {nullptr};
    ::syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH);
    return errno;
  });
  return status == 0 ? Succeeded() : Refused(status);
}

Outcome ExecuteWithFlags(unsigned flags) {
  const os::Fd fd = MakeMemfd(flags);
  return fd.valid() ? Execute(fd.get()) : Refused(errno, "memfd_create");
}

Outcome ExecuteExecutable(const Context&) { return ExecuteWithFlags(kMfdExec); }
Outcome ExecutePlain(const Context&) { return ExecuteWithFlags(0); }

Outcome ExecuteAfterChmod(const Context&) {
  const os::Fd fd = MakeMemfd(0);
  if (!fd.valid()) return Refused(errno, "memfd_create");
  if (::fchmod(fd.get(), 0755) != 0) return Refused(errno, "fchmod");
  return Execute(fd.get());
}

// The seal must hold even when it was asked for: outside this is refused too, which shows what the seal does.
Outcome ExecuteSealed(const Context&) {
  const os::Fd fd = MakeMemfd(kMfdNoexecSeal);
  if (!fd.valid()) return Refused(errno, "memfd_create");
  if (::fchmod(fd.get(), 0755) != 0) return Refused(errno, "fchmod");
  return Execute(fd.get());
}

}  // namespace

Probes MemfdProbes() {
  return {
      {"memfd_exec_flag", "F7", "execute a memfd made with MFD_EXEC", ExecuteExecutable},
      {"memfd_plain", "F7", "execute a memfd made without flags", ExecutePlain},
      {"memfd_chmod", "F7", "make a memfd executable, then execute it", ExecuteAfterChmod},
      {"memfd_sealed", "F7", "make a sealed memfd executable, then execute it", ExecuteSealed},
  };
}

}  // namespace caisson::escape
