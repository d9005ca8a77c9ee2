#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "escape/probe.h"

namespace caisson::escape {
namespace {

constexpr long kX32Bit = 0x40000000;

#if defined(__x86_64__)
// One system call through the 32-bit gate, by its 32-bit number.
long Int80(long number) {
  long result = number;
  asm volatile("int $0x80" : "+a"(result) : "b"(0L), "c"(0L), "d"(0L) : "r8", "r9", "r10", "r11", "memory");
  return result;
}

Outcome Int80Getpid(const Context&) {
  const long result = Int80(20);
  return result > 0 ? Succeeded() : Refused(static_cast<int>(-result));
}

Outcome Int80Mount(const Context&) {
  const long result = Int80(21);
  return result >= 0 ? Succeeded() : Refused(static_cast<int>(-result));
}
#else
Outcome Int80Getpid(const Context&) { return NotRun("x86-64 only"); }
Outcome Int80Mount(const Context&) { return NotRun("x86-64 only"); }
#endif

Outcome X32Getpid(const Context&) { return FromReturn(::syscall(kX32Bit + 39)); }

Outcome TraceChild(const Context&) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  if (child < 0) return NotRun("cannot fork");
  const Outcome outcome = FromReturn(::ptrace(PTRACE_SEIZE, child, nullptr, nullptr));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return outcome;
}

Outcome TraceMe(const Context&) { return FromReturn(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }

Outcome TurnOffRandomization(const Context&) { return FromReturn(::syscall(SYS_personality, ADDR_NO_RANDOMIZE)); }
Outcome ReadImpliesExec(const Context&) { return FromReturn(::syscall(SYS_personality, READ_IMPLIES_EXEC)); }

// Function 0 reads the (empty) table.
Outcome ReadLdt(const Context&) {
#if defined(__x86_64__)
  return FromReturn(::syscall(SYS_modify_ldt, 0, nullptr, 0));
#else
  return NotRun("x86-64 only");
#endif
}

// Type 10 asks only for the size of the kernel's log.
Outcome AskKernelLog(const Context&) { return FromReturn(::syscall(SYS_syslog, 10, nullptr, 0)); }

// Without a controlling terminal there is nothing to hang up.
Outcome HangUp(const Context&) {
  if (::getsid(0) != ::getpid() && ::setsid() < 0) return NotRun("has a terminal that would be lost");
  return FromReturn(::syscall(SYS_vhangup));
}

Outcome BecomeRealTime(const Context&) {
  sched_param parameters{};
  parameters.sched_priority = 1;
  return FromReturn(::sched_setscheduler(0, SCHED_FIFO, &parameters));
}

Outcome BecomeRealTimeByAttributes(const Context&) {
  struct {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime;
    std::uint64_t deadline;
    std::uint64_t period;
  } attributes{48, SCHED_FIFO, 0, 0, 1, 0, 0, 0};
  return FromReturn(::syscall(SYS_sched_setattr, 0, &attributes, 0));
}

}  // namespace

Probes SeccompProbes() {
  return {
      {"int80_getpid", "F4", "call the kernel through the 32-bit gate", Int80Getpid},
      {"int80_mount", "F4", "mount through the 32-bit gate", Int80Mount},
      {"x32_getpid", "F4", "call the kernel by an x32 number", X32Getpid},
      {"ptrace_child", "D10", "trace its own child", TraceChild},
      {"ptrace_traceme", "D10", "ask its parent to trace it", TraceMe},
      {"personality_aslr", "F7", "turn address randomization off", TurnOffRandomization},
      {"personality_exec", "F7", "make readable memory executable", ReadImpliesExec},
      {"modify_ldt", "F7", "read its local descriptor table", ReadLdt},
      {"syslog", "F7", "ask for the size of the kernel log", AskKernelLog},
      {"vhangup", "F7", "hang up its terminal", HangUp},
      {"sched_fifo", "H14", "take a real-time policy", BecomeRealTime},
      {"sched_setattr_fifo", "H14", "the same by sched_setattr", BecomeRealTimeByAttributes},
  };
}

}  // namespace caisson::escape
