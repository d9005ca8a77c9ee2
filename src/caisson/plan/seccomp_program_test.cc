#include "caisson/plan/seccomp_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/plan/bpf_interpreter.h"
#include "caisson/plan/syscall_table.h"
#include "caisson/plan/verdict_oracle.h"

namespace caisson::plan {
namespace {

constexpr std::uint64_t kHighNoise = 0xa5a5a5a500000000;
constexpr std::uint32_t kArchitectures[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64};

// What the kernel does when both filters are installed: the stricter verdict, or kGuest alone for PID 1.
std::uint32_t RunBoth(std::uint32_t number, const Arguments& arguments) {
  static BpfInterpreter guest(CompileFilter(FilterKind::kGuest));
  static BpfInterpreter command(CompileFilter(FilterKind::kCommand));
  const seccomp_data call = CallOf(number, AUDIT_ARCH_X86_64, arguments);
  const std::uint32_t inner = command.Run(call).value_or(kKill);
  return inner == SECCOMP_RET_ALLOW ? guest.Run(call).value_or(kKill) : inner;
}

std::uint32_t RunByName(std::string_view name, const Arguments& arguments) {
  for (const Syscall& call : SyscallTable()) {
    if (call.name == name) return RunBoth(call.number, arguments);
  }
  ADD_FAILURE() << name << " is not in the table";
  return kKill;
}

// Values that can tell one verdict on that argument from another, each also with noise in its high half.
std::vector<std::uint64_t> SamplesOf(const Syscall& call, std::uint8_t argument) {
  std::set<std::uint64_t> low = {0, 1, 0xffffffff};
  for (const Refusal& refusal : call.refusals) {
    for (const Condition& condition : refusal.when) {
      if (condition.argument != argument) continue;
      for (const std::uint32_t value : condition.values) low.insert({value, value | ~condition.mask, value + 1u});
      if (condition.relation != Relation::kHasAnyBit) continue;
      for (std::uint32_t bit = 1; bit != 0; bit <<= 1) low.insert(bit);
      low.insert(~condition.mask);
    }
  }
  std::vector<std::uint64_t> samples(low.begin(), low.end());
  for (const std::uint64_t value : low) samples.push_back(value | kHighNoise);
  return samples;
}

// Every combination of the samples of the arguments that the call is judged by.
std::vector<Arguments> SamplesOf(const Syscall* call) {
  std::vector<Arguments> samples = {{}};
  samples.push_back({~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull});
  samples.push_back({1ull << 32, 1ull << 32, 1ull << 32, 1ull << 32, 1ull << 32, 1ull << 32});
  if (call == nullptr || call->refusals.empty()) return samples;
  std::set<std::uint8_t> judged;
  for (const Refusal& refusal : call->refusals) {
    for (const Condition& condition : refusal.when) judged.insert(condition.argument);
  }
  for (const std::uint8_t argument : judged) {
    std::vector<Arguments> product;
    for (const std::uint64_t value : SamplesOf(*call, argument)) {
      for (Arguments sample : samples) {
        sample[argument] = value;
        product.push_back(sample);
      }
    }
    samples.insert(samples.end(), product.begin(), product.end());
  }
  return samples;
}

class EveryCall : public testing::TestWithParam<FilterKind> {};

TEST_P(EveryCall, GetsTheVerdictOfTheTableAndReachesEveryInstruction) {
  BpfInterpreter filter(CompileFilter(GetParam()));
  std::vector<std::uint32_t> numbers = {0x3fffffff, 0x40000000, 0x40000027, 0x7fffffff, 0x80000000, 0xffffffff};
  for (std::uint32_t number = 0; number < 1024; ++number) numbers.push_back(number);
  std::size_t wrong = 0;
  for (const std::uint32_t number : numbers) {
    for (const Arguments& arguments : SamplesOf(FindSyscall(number))) {
      for (const std::uint32_t architecture : kArchitectures) {
        const seccomp_data call = CallOf(number, architecture, arguments);
        if (filter.Run(call) == Expected(GetParam(), call)) continue;
        if (++wrong < 10) ADD_FAILURE() << "number " << number << " architecture " << architecture;
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(filter.Unreached(), std::vector<std::size_t>{});
  EXPECT_EQ(filter.Undecided(), std::vector<std::size_t>{});
}

INSTANTIATE_TEST_SUITE_P(Filters, EveryCall, testing::Values(FilterKind::kGuest, FilterKind::kCommand));

TEST(SeccompProgram, StaysSmall) {
  BpfInterpreter guest(CompileFilter(FilterKind::kGuest));
  for (std::uint32_t number = 0; number < 512; ++number) guest.Run(CallOf(number, AUDIT_ARCH_X86_64, {}));
  EXPECT_LE(CompileFilter(FilterKind::kGuest).size(), 420u);
  EXPECT_LE(guest.longest_run(), 24u);
  EXPECT_LE(CompileFilter(FilterKind::kCommand).size(), 8u);
}

TEST(SeccompProgram, RefusesEveryMemoryFileWhereNoneCanBeMadeNonExecutable) {
  BpfInterpreter usual(CompileFilter(FilterKind::kGuest));
  BpfInterpreter strict(CompileFilter(FilterKind::kGuest, MemoryFiles::kRefused));
  std::vector<std::uint32_t> different;
  for (std::uint32_t number = 0; number < 1024; ++number) {
    const seccomp_data call = CallOf(number, AUDIT_ARCH_X86_64, {});
    if (usual.Run(call) != strict.Run(call)) different.push_back(number);
  }
  EXPECT_EQ(different, std::vector<std::uint32_t>{SYS_memfd_create});
  EXPECT_EQ(strict.Run(CallOf(SYS_memfd_create, AUDIT_ARCH_X86_64, {})), SECCOMP_RET_ERRNO | ENOSYS);
}

TEST(SyscallTable, HasEveryNumberOfTheSystemHeader) {
  std::ifstream header("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  if (!header) header.open("/usr/include/asm/unistd_64.h");
  if (!header) GTEST_SKIP() << "no asm/unistd_64.h on this system";
  std::string word;
  std::string name;
  std::uint32_t number = 0;
  std::size_t seen = 0;
  while (header >> word) {
    if (word != "#define" || !(header >> name) || name.rfind("__NR_", 0) != 0 || !(header >> number)) continue;
    const Syscall* call = FindSyscall(number);
    ASSERT_NE(call, nullptr) << name << " = " << number << " has no verdict";
    EXPECT_EQ("__NR_" + std::string(call->name), name) << number;
    ++seen;
  }
  EXPECT_GT(seen, 300u);
}

TEST(SyscallTable, GivesAReasonForEveryRefusalAndOnlyThere) {
  for (const Syscall& call : SyscallTable()) {
    EXPECT_EQ(call.why.empty(), call.error == 0 && call.refusals.empty()) << call.name;
  }
}

// The refusals again, by name, so that an edit of the table cannot open one unseen.
constexpr const char* kNotPermitted[] = {"setns",
                                         "mount",
                                         "umount2",
                                         "pivot_root",
                                         "chroot",
                                         "fsopen",
                                         "fsconfig",
                                         "fsmount",
                                         "fspick",
                                         "open_tree",
                                         "open_tree_attr",
                                         "move_mount",
                                         "mount_setattr",
                                         "bpf",
                                         "perf_event_open",
                                         "lookup_dcookie",
                                         "fanotify_init",
                                         "keyctl",
                                         "add_key",
                                         "request_key",
                                         "ptrace",
                                         "process_vm_readv",
                                         "process_vm_writev",
                                         "process_madvise",
                                         "kcmp",
                                         "pidfd_getfd",
                                         "name_to_handle_at",
                                         "open_by_handle_at",
                                         "kexec_load",
                                         "kexec_file_load",
                                         "init_module",
                                         "finit_module",
                                         "delete_module",
                                         "create_module",
                                         "query_module",
                                         "get_kernel_syms",
                                         "reboot",
                                         "swapon",
                                         "swapoff",
                                         "acct",
                                         "quotactl",
                                         "quotactl_fd",
                                         "nfsservctl",
                                         "sysfs",
                                         "uselib",
                                         "ustat",
                                         "syslog",
                                         "vhangup",
                                         "settimeofday",
                                         "clock_settime",
                                         "clock_adjtime",
                                         "adjtimex",
                                         "sethostname",
                                         "setdomainname",
                                         "iopl",
                                         "ioperm",
                                         "modify_ldt",
                                         "mbind",
                                         "set_mempolicy",
                                         "set_mempolicy_home_node",
                                         "get_mempolicy",
                                         "migrate_pages",
                                         "move_pages",
                                         "sched_setattr"};
constexpr const char* kNotThere[] = {"clone3",      "io_uring_setup", "io_uring_enter", "io_uring_register",
                                     "userfaultfd", "memfd_secret"};

TEST(SyscallTable, RefusesWhatReachesTheMachine) {
  for (const char* name : kNotPermitted) {
    EXPECT_EQ(RunByName(name, {}), Errno(EPERM)) << name;
  }
  for (const char* name : kNotThere) {
    EXPECT_EQ(RunByName(name, {}), Errno(ENOSYS)) << name;
  }
}

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;

struct Case {
  const char* name;
  Arguments arguments;
  std::uint32_t verdict;
};
constexpr Case kCases[] = {
    {"socket", {1, 1, 0}, kAllow},
    {"socket", {2, 1, 6}, kAllow},
    {"socket", {10, 2 | 02000000, 0}, kAllow},
    {"socket", {16, 3 | 02000000, 0}, kAllow},
    {"socket", {16, 3, 15}, Errno(EPROTONOSUPPORT)},
    {"socket", {38, 5, 0}, Errno(EAFNOSUPPORT)},
    {"socket", {38 | 1ull << 32, 5, 0}, Errno(EAFNOSUPPORT)},
    {"socket", {17, 3, 0}, Errno(EAFNOSUPPORT)},
    {"socket", {40, 1, 0}, Errno(EAFNOSUPPORT)},
    {"socket", {2, 3 | 02000000, 1}, Errno(EPERM)},
    {"socket", {2 | 1ull << 32, 10, 0}, Errno(EPERM)},
    {"socket", {2, 1, 132}, Errno(EPROTONOSUPPORT)},
    {"socketpair", {1, 1, 0}, kAllow},
    {"socketpair", {30, 1, 0}, Errno(EAFNOSUPPORT)},
    {"ioctl", {0, 0x5413}, kAllow},
    {"ioctl", {0, 0x5412}, Errno(EPERM)},
    {"ioctl", {0, 0x5412 | 1ull << 32}, Errno(EPERM)},
    {"ioctl", {0, 0x541c | 1ull << 63}, Errno(EPERM)},
    {"clone", {0x3d0f00}, kAllow},
    {"clone", {0x10000011}, Errno(EPERM)},
    {"clone", {0x00020011 | 1ull << 40}, Errno(EPERM)},
    {"unshare", {0}, kAllow},
    {"unshare", {0x400}, kAllow},
    {"unshare", {0x80}, Errno(EPERM)},
    {"unshare", {0x10000000}, Errno(EPERM)},
    {"unshare", {0x400 | 1ull << 37}, Errno(EPERM)},
    {"personality", {0xffffffff}, kAllow},
    {"personality", {8 | 1ull << 32}, kAllow},
    {"personality", {0x40000}, Errno(EPERM)},
    {"prctl", {22}, kAllow},
    {"prctl", {35 | 1ull << 32}, Errno(EPERM)},
    {"seccomp", {1, 1}, kAllow},
    {"seccomp", {1, 8}, Errno(EPERM)},
    {"sendto", {3, 0, 0, 0x4000}, kAllow},
    {"sendto", {3, 0, 0, 0x20004000}, Errno(EPERM)},
    {"sendmsg", {3, 0, 0x20000000}, Errno(EPERM)},
    {"sendmmsg", {3, 0, 1, 0x20000000}, Errno(EPERM)},
    {"mknod", {0, 0010644}, kAllow},
    {"mknod", {0, 0020644}, Errno(EPERM)},
    {"mknodat", {0, 0, 0060644}, Errno(EPERM)},
    {"mknodat", {0, 0, 0104755}, Errno(EPERM)},
    {"chmod", {0, 01777}, kAllow},
    {"chmod", {0, 04755}, Errno(EPERM)},
    {"fchmod", {0, 02755}, Errno(EPERM)},
    {"fchmodat", {0, 0, 04755}, Errno(EPERM)},
    {"fchmodat2", {0, 0, 06755}, Errno(EPERM)},
    {"creat", {0, 04755}, Errno(EPERM)},
    {"open", {0, 0, 04755}, kAllow},
    {"open", {0, O_CREAT, 04755}, Errno(EPERM)},
    {"openat", {0, 0, O_CREAT | O_WRONLY, 0644}, kAllow},
    {"openat", {0, 0, O_TMPFILE, 02755}, Errno(EPERM)},
    {"sched_setscheduler", {0, 3}, kAllow},
    {"sched_setscheduler", {0, 1}, Errno(EPERM)},
    {"sched_setscheduler", {0, 0x40000002}, Errno(EPERM)},
    {"memfd_create", {0, 1}, kAllow},
    {"memfd_create", {0, 0x11}, Errno(EACCES)},
};

TEST(SyscallTable, JudgesArguments) {
  for (const Case& test : kCases) {
    EXPECT_EQ(RunByName(test.name, test.arguments), test.verdict)
        << test.name << " " << std::hex << test.arguments[0] << " " << test.arguments[1] << " " << test.arguments[2];
  }
}

// Both filters in a child of its own without privileges, which then runs `body` and exits with its result.
int StatusUnderFilters(const std::function<int()>& body) {
  const std::vector<sock_filter> programs[] = {CompileFilter(FilterKind::kGuest), CompileFilter(FilterKind::kCommand)};
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(101);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(102);
    for (const std::vector<sock_filter>& program : programs) {
      const sock_fprog loaded = {static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
      if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded) != 0) _exit(103);
    }
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

int ErrnoOf(long number, long a = -1, long b = -1, long c = -1, long d = -1) {
  errno = 0;
  return syscall(number, a, b, c, d, -1L, -1L) < 0 ? errno : 0;
}

// Bad pointers everywhere: EFAULT, EINVAL or EBADF would mean that the kernel was reached.
TEST(SeccompInKernel, RefusesBeforeTheCallIsReached) {
  const int status = StatusUnderFilters([] {
    if (getpid() <= 0) return 1;
    for (const Syscall& call : SyscallTable()) {
      // The kernel lets these two past every filter: uprobes put them into programs unasked.
      if (call.name == "uprobe" || call.name == "uretprobe") continue;
      if (call.error == 0 || ErrnoOf(call.number) == call.error) continue;
      (void)!write(STDERR_FILENO, call.name.data(), call.name.size());
      return 2;
    }
    return ErrnoOf(472) == ENOSYS && ErrnoOf(-1) == ENOSYS ? 0 : 3;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SeccompInKernel, JudgesArguments) {
  const int status = StatusUnderFilters([] {
    const long high = 1L << 32;
    if (ErrnoOf(SYS_socket, 38, 5, 0) != EAFNOSUPPORT) return 1;
    if (ErrnoOf(SYS_socket, 38 | high, 5, 0) != EAFNOSUPPORT) return 2;
    if (ErrnoOf(SYS_ioctl, 0, 0x5412 | high, 0) != EPERM) return 3;
    if (ErrnoOf(SYS_unshare, 0x10000000) != EPERM) return 4;
    if (ErrnoOf(SYS_clone, 0x10000011, 0, 0, 0) != EPERM) return 5;
    if (ErrnoOf(SYS_personality, 0xffffffff) != 0) return 6;
    if (ErrnoOf(SYS_memfd_create, reinterpret_cast<long>("x"), 0x10) != EACCES) return 7;
    if (ErrnoOf(SYS_openat, -1, -1, O_RDONLY, 04755) != EFAULT) return 8;
    if (ErrnoOf(SYS_openat, -1, -1, O_CREAT, 04755) != EPERM) return 9;
    if (ErrnoOf(SYS_socket, 1, 1, 0) != 0) return 10;
    return 0;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SeccompInKernel, EndsCallsOfOtherInterfaces) {
  const int x32 = StatusUnderFilters([] { return static_cast<int>(syscall(0x40000000 + SYS_getpid)) * 0; });
  EXPECT_TRUE(WIFSIGNALED(x32) && WTERMSIG(x32) == SIGSYS);
#ifdef __x86_64__
  // A kernel without 32-bit emulation answers the gate itself, with SIGSEGV.
  const int gate = StatusUnderFilters([] {
    long result = 20;  // getpid of i386
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(gate) && (WTERMSIG(gate) == SIGSYS || WTERMSIG(gate) == SIGSEGV));
#endif
}

// Why mkdir needs no rule: the kernel drops the bits.
TEST(SeccompInKernel, MkdirMakesNoSetIdFolder) {
  std::string folder = testing::TempDir() + "caisson_mkdir_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string made = folder + "/made";
  ASSERT_EQ(mkdir(made.c_str(), 06755), 0);
  struct stat facts = {};
  EXPECT_EQ(stat(made.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 06000u, 0u);
  rmdir(made.c_str());
  rmdir(folder.c_str());
}

}  // namespace
}  // namespace caisson::plan
