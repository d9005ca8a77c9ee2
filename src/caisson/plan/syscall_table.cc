#include "caisson/plan/syscall_table.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

namespace caisson::plan {
namespace {

// Kernel constants by value: the headers of the build host may be older than the kernel.
constexpr std::uint32_t kAllBits = 0xffffffff;

constexpr Condition IsOneOf(std::uint8_t argument, std::span<const std::uint32_t> values,
                            std::uint32_t mask = kAllBits) {
  return {argument, Half::kLow, mask, Relation::kIsOneOf, values};
}
constexpr Condition IsNoneOf(std::uint8_t argument, std::span<const std::uint32_t> values,
                             std::uint32_t mask = kAllBits) {
  return {argument, Half::kLow, mask, Relation::kIsNoneOf, values};
}
constexpr Condition HasAnyBit(std::uint8_t argument, std::uint32_t mask, Half half = Half::kLow) {
  return {argument, half, mask, Relation::kHasAnyBit, {}};
}

// socket(2), socketpair(2): family, type and protocol are ints. socketpair makes its sockets before the family can
// refuse the pair, so both calls are judged alike. EPERM for a family would end programs that only probe for it.
constexpr std::uint32_t kInternetFamilies[] = {2, 10};  // AF_INET, AF_INET6
constexpr std::uint32_t kNetlinkFamily[] = {16};        // AF_NETLINK
constexpr std::uint32_t kFamilies[] = {1, 2, 10, 16};   // and AF_UNIX
constexpr std::uint32_t kRouteProtocol[] = {0};         // NETLINK_ROUTE
constexpr std::uint32_t kPacketTypes[] = {3, 10};       // SOCK_RAW, SOCK_PACKET
constexpr std::uint32_t kTypeMask = 0xf;                // the rest is SOCK_CLOEXEC, SOCK_NONBLOCK
// IPPROTO_IP, ICMP, TCP, UDP, ICMPV6, MPTCP. Any other would make the kernel load a protocol module.
constexpr std::uint32_t kInternetProtocols[] = {0, 1, 6, 17, 58, 262};
constexpr Condition kOtherFamily[] = {IsNoneOf(0, kFamilies)};
constexpr Condition kOtherNetlink[] = {IsOneOf(0, kNetlinkFamily), IsNoneOf(2, kRouteProtocol)};
constexpr Condition kRawPackets[] = {IsOneOf(0, kInternetFamilies), IsOneOf(1, kPacketTypes, kTypeMask)};
constexpr Condition kOtherProtocol[] = {IsOneOf(0, kInternetFamilies), IsNoneOf(2, kInternetProtocols)};
constexpr Refusal kSocket[] = {{EAFNOSUPPORT, kOtherFamily},
                               {EPROTONOSUPPORT, kOtherNetlink},
                               {EPERM, kRawPackets},
                               {EPROTONOSUPPORT, kOtherProtocol}};

// The flags of sendto(2), sendmsg(2) and sendmmsg(2) are an int in a register.
constexpr std::uint32_t kFastOpen = 0x20000000;  // MSG_FASTOPEN
constexpr Condition kSendsFastOpen2[] = {HasAnyBit(2, kFastOpen)};
constexpr Condition kSendsFastOpen3[] = {HasAnyBit(3, kFastOpen)};
constexpr Refusal kSendFlags2[] = {{EPERM, kSendsFastOpen2}};
constexpr Refusal kSendFlags3[] = {{EPERM, kSendsFastOpen3}};

// ioctl(2): the request is an unsigned int. TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS.
constexpr std::uint32_t kTerminalRequests[] = {0x5412, 0x541c, 0x5423, 0x541d};
constexpr Condition kTakesTerminal[] = {IsOneOf(1, kTerminalRequests)};
constexpr Refusal kIoctl[] = {{EPERM, kTakesTerminal}};

// clone(2): the kernel keeps the low half of the flags. CLONE_NEWTIME is not among them, it is part of the signal.
constexpr Condition kClonesNamespace[] = {HasAnyBit(0, 0x7e020000)};
constexpr Refusal kClone[] = {{EPERM, kClonesNamespace}};

// unshare(2): the flags are an unsigned long, all 64 bits count. What is not known to be harmless is refused, since
// newer flags make namespaces without a CLONE_NEW bit. CLONE_FS, CLONE_FILES and CLONE_SYSVSEM concern the caller only.
constexpr Condition kUnsharesMore[] = {HasAnyBit(0, ~std::uint32_t{0x00040600})};
constexpr Condition kUnsharesHigh[] = {HasAnyBit(0, kAllBits, Half::kHigh)};
constexpr Refusal kUnshare[] = {{EPERM, kUnsharesMore}, {EPERM, kUnsharesHigh}};

// The mode of a file is 16 bits wide. mkdir(2) needs no rule, the kernel drops these bits there; the mode of
// openat2(2) lies in memory, there the nosuid mounts alone stand.
constexpr std::uint32_t kSetIdBits = 06000;          // S_ISUID, S_ISGID
constexpr std::uint32_t kCreates = 0x40 | 0x400000;  // O_CREAT, the own bit of O_TMPFILE: only then is there a mode
constexpr std::uint32_t kTypeOfFile = 0170000;       // S_IFMT
constexpr std::uint32_t kDevices[] = {0020000, 0060000};  // S_IFCHR, S_IFBLK
constexpr Condition kSetsId1[] = {HasAnyBit(1, kSetIdBits)};
constexpr Condition kSetsId2[] = {HasAnyBit(2, kSetIdBits)};
constexpr Condition kCreatesSetId1[] = {HasAnyBit(1, kCreates), HasAnyBit(2, kSetIdBits)};
constexpr Condition kCreatesSetId2[] = {HasAnyBit(2, kCreates), HasAnyBit(3, kSetIdBits)};
constexpr Condition kMakesDevice1[] = {IsOneOf(1, kDevices, kTypeOfFile)};
constexpr Condition kMakesDevice2[] = {IsOneOf(2, kDevices, kTypeOfFile)};
constexpr Refusal kMode1[] = {{EPERM, kSetsId1}};
constexpr Refusal kMode2[] = {{EPERM, kSetsId2}};
constexpr Refusal kOpenMode1[] = {{EPERM, kCreatesSetId1}};
constexpr Refusal kOpenMode2[] = {{EPERM, kCreatesSetId2}};
constexpr Refusal kNodeMode1[] = {{EPERM, kMakesDevice1}, {EPERM, kSetsId1}};
constexpr Refusal kNodeMode2[] = {{EPERM, kMakesDevice2}, {EPERM, kSetsId2}};

// personality(2): an unsigned int. PER_LINUX, PER_LINUX32, both with UNAME26, and the query.
constexpr std::uint32_t kPersonalities[] = {0, 8, 0x20000, 0x20008, kAllBits};
constexpr Condition kOtherPersonality[] = {IsNoneOf(0, kPersonalities)};
constexpr Refusal kPersonality[] = {{EPERM, kOtherPersonality}};

// prctl(2): the option is an int. PR_SET_MM. PR_SET_SECCOMP stays: a further filter can only take away.
constexpr std::uint32_t kMemoryMap[] = {35};
constexpr Condition kSetsMemoryMap[] = {IsOneOf(0, kMemoryMap)};
constexpr Refusal kPrctl[] = {{EPERM, kSetsMemoryMap}};

// seccomp(2): the flags are an unsigned int. SECCOMP_FILTER_FLAG_NEW_LISTENER: the kernel asks the newest listener of
// a process alone, so one inside the sandbox would stand before a listener of the engine, or keep it from having one.
constexpr Condition kAddsListener[] = {HasAnyBit(1, 0x8)};
constexpr Refusal kSeccomp[] = {{EPERM, kAddsListener}};

// sched_setscheduler(2): an int. SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, each with or without SCHED_RESET_ON_FORK.
constexpr std::uint32_t kFairPolicies[] = {0, 3, 5};
constexpr Condition kOtherPolicy[] = {IsNoneOf(1, kFairPolicies, ~std::uint32_t{0x40000000})};
constexpr Refusal kScheduler[] = {{EPERM, kOtherPolicy}};

// memfd_create(2): an unsigned int. Without MFD_EXEC the sysctl vm.memfd_noexec=1 makes every memfd non-executable,
// so what asks for it fails as that sysctl at 2 would let it fail, and what does not keeps working.
constexpr Condition kExecutableMemory[] = {HasAnyBit(1, 0x10)};
constexpr Refusal kMemfd[] = {{EACCES, kExecutableMemory}};

// Calls of successive numbers, their names in that order with a space between.
struct Allowed {
  std::uint16_t first;
  std::string_view names;

  constexpr std::size_t count() const { return 1 + std::size_t(std::count(names.begin(), names.end(), ' ')); }
};
struct Refused {
  std::uint16_t number;
  std::string_view name;
  std::uint16_t error;
  std::string_view why;
};

constexpr Allowed kAllowed[] = {
    {0, "read write"},
    {3, "close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask"},
    {15, "rt_sigreturn"},
    {17, "pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise shmget"},
    {30, "shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile"},
    {42, "connect accept"},
    {45, "recvfrom"},
    {47, "recvmsg shutdown bind listen getsockname getpeername"},
    {54, "setsockopt getsockopt"},
    {57, "fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv msgctl"},
    {72, "fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir"},
    {86, "link unlink symlink readlink"},
    {92, "chown fchown lchown umask gettimeofday getrlimit getrusage sysinfo times"},
    {102, "getuid"},
    {104, "getgid setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups"},
    {116, "setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget capset"},
    {127, "rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime"},
    {137, "statfs fstatfs"},
    {140, "getpriority setpriority sched_setparam sched_getparam"},
    {145, "sched_getscheduler sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock"},
    {150, "munlock mlockall munlockall"},
    {158, "arch_prctl"},
    {160, "setrlimit"},
    {162, "sync"},
    {186, "gettid readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr"},
    {196, "flistxattr removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity"},
    {204, "sched_getaffinity"},
    {206, "io_setup io_destroy io_getevents io_submit io_cancel"},
    {213, "epoll_create"},
    {216, "remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 timer_create"},
    {223, "timer_settime timer_gettime timer_getoverrun timer_delete"},
    {228, "clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes"},
    {240, "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr"},
    {247, "waitid"},
    {251, "ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch"},
    {258, "mkdirat"},
    {260, "fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat"},
    {269, "faccessat pselect6 ppoll"},
    {273, "set_robust_list get_robust_list splice tee sync_file_range vmsplice"},
    {280, "utimensat epoll_pwait signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime"},
    {288, "accept4 signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev"},
    {297, "rt_tgsigqueueinfo"},
    {299, "recvmmsg"},
    {302, "prlimit64"},
    {306, "syncfs"},
    {309, "getcpu"},
    {315, "sched_getattr renameat2"},
    {318, "getrandom"},
    {322, "execveat"},
    {324, "membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx"},
    {333, "io_pgetevents rseq"},
    {424, "pidfd_send_signal"},
    {434, "pidfd_open"},
    {436, "close_range openat2"},
    {439, "faccessat2"},
    {441, "epoll_pwait2"},
    {444, "landlock_create_ruleset landlock_add_rule landlock_restrict_self"},
    {448, "process_mrelease futex_waitv"},
    {451, "cachestat"},
    {453, "map_shadow_stack futex_wake futex_wait futex_requeue statmount listmount lsm_get_self_attr"},
    {461, "lsm_list_modules mseal setxattrat getxattrat listxattrat removexattrat"},
    {468, "file_getattr file_setattr"},
    {471, "rseq_slice_yield"},
};

constexpr Refused kRefused[] = {
    {101, "ptrace", EPERM, "reads or changes another process"},
    {103, "syslog", EPERM, "reads the kernel log"},
    {134, "uselib", EPERM, "obsolete"},
    {136, "ustat", EPERM, "obsolete"},
    {139, "sysfs", EPERM, "obsolete"},
    {153, "vhangup", EPERM, "takes a terminal from its session"},
    {154, "modify_ldt", EPERM, "changes segment descriptors"},
    {155, "pivot_root", EPERM, "changes the tree of mounts"},
    {156, "_sysctl", ENOSYS, "not in the kernel any more"},
    {159, "adjtimex", EPERM, "sets the machine's clock"},
    {161, "chroot", EPERM, "changes the tree of mounts"},
    {163, "acct", EPERM, "changes the machine's accounting"},
    {164, "settimeofday", EPERM, "sets the machine's clock"},
    {165, "mount", EPERM, "changes the tree of mounts"},
    {166, "umount2", EPERM, "changes the tree of mounts"},
    {167, "swapon", EPERM, "changes the machine's swap"},
    {168, "swapoff", EPERM, "changes the machine's swap"},
    {169, "reboot", EPERM, "stops the machine"},
    {170, "sethostname", EPERM, "the names belong to the sandbox"},
    {171, "setdomainname", EPERM, "the names belong to the sandbox"},
    {172, "iopl", EPERM, "reaches hardware ports"},
    {173, "ioperm", EPERM, "reaches hardware ports"},
    {174, "create_module", EPERM, "loads kernel code"},
    {175, "init_module", EPERM, "loads kernel code"},
    {176, "delete_module", EPERM, "loads kernel code"},
    {177, "get_kernel_syms", EPERM, "loads kernel code"},
    {178, "query_module", EPERM, "loads kernel code"},
    {179, "quotactl", EPERM, "changes the machine's accounting"},
    {180, "nfsservctl", EPERM, "obsolete"},
    {181, "getpmsg", ENOSYS, "never in the kernel"},
    {182, "putpmsg", ENOSYS, "never in the kernel"},
    {183, "afs_syscall", ENOSYS, "never in the kernel"},
    {184, "tuxcall", ENOSYS, "never in the kernel"},
    {185, "security", ENOSYS, "never in the kernel"},
    {205, "set_thread_area", ENOSYS, "for 32-bit programs"},
    {211, "get_thread_area", ENOSYS, "for 32-bit programs"},
    {212, "lookup_dcookie", EPERM, "observes the machine"},
    {214, "epoll_ctl_old", ENOSYS, "not in the kernel any more"},
    {215, "epoll_wait_old", ENOSYS, "not in the kernel any more"},
    {227, "clock_settime", EPERM, "sets the machine's clock"},
    {236, "vserver", ENOSYS, "never in the kernel"},
    {237, "mbind", EPERM, "places memory on nodes of the machine"},
    {238, "set_mempolicy", EPERM, "places memory on nodes of the machine"},
    {239, "get_mempolicy", EPERM, "places memory on nodes of the machine"},
    {246, "kexec_load", EPERM, "loads kernel code"},
    {248, "add_key", EPERM, "kernel keyrings are shared between sandboxes"},
    {249, "request_key", EPERM, "kernel keyrings are shared between sandboxes"},
    {250, "keyctl", EPERM, "kernel keyrings are shared between sandboxes"},
    {256, "migrate_pages", EPERM, "places memory on nodes of the machine"},
    {279, "move_pages", EPERM, "places memory on nodes of the machine"},
    {298, "perf_event_open", EPERM, "observes the machine"},
    {300, "fanotify_init", EPERM, "observes files outside the sandbox"},
    {301, "fanotify_mark", EPERM, "observes files outside the sandbox"},
    {303, "name_to_handle_at", EPERM, "opens files past the tree of mounts"},
    {304, "open_by_handle_at", EPERM, "opens files past the tree of mounts"},
    {305, "clock_adjtime", EPERM, "sets the machine's clock"},
    {308, "setns", EPERM, "makes or enters a namespace"},
    {310, "process_vm_readv", EPERM, "reads or changes another process"},
    {311, "process_vm_writev", EPERM, "reads or changes another process"},
    {312, "kcmp", EPERM, "reads or changes another process"},
    {313, "finit_module", EPERM, "loads kernel code"},
    {314, "sched_setattr", EPERM, "its policy lies in memory, where no filter can read it"},
    {320, "kexec_file_load", EPERM, "loads kernel code"},
    {321, "bpf", EPERM, "loads programs into the kernel"},
    {323, "userfaultfd", ENOSYS, "stops the kernel in the middle of a copy"},
    {335, "uretprobe", ENOSYS, "only the trampoline of a probe makes it"},
    {336, "uprobe", ENOSYS, "only the trampoline of a probe makes it"},
    {425, "io_uring_setup", ENOSYS, "does work the filter never sees"},
    {426, "io_uring_enter", ENOSYS, "does work the filter never sees"},
    {427, "io_uring_register", ENOSYS, "does work the filter never sees"},
    {428, "open_tree", EPERM, "changes the tree of mounts"},
    {429, "move_mount", EPERM, "changes the tree of mounts"},
    {430, "fsopen", EPERM, "changes the tree of mounts"},
    {431, "fsconfig", EPERM, "changes the tree of mounts"},
    {432, "fsmount", EPERM, "changes the tree of mounts"},
    {433, "fspick", EPERM, "changes the tree of mounts"},
    {438, "pidfd_getfd", EPERM, "reads or changes another process"},
    {440, "process_madvise", EPERM, "reads or changes another process"},
    {442, "mount_setattr", EPERM, "changes the tree of mounts"},
    {443, "quotactl_fd", EPERM, "changes the machine's accounting"},
    {447, "memfd_secret", ENOSYS, "makes memory the host cannot inspect"},
    {450, "set_mempolicy_home_node", EPERM, "places memory on nodes of the machine"},
    {460, "lsm_set_self_attr", EPERM, "changes the security label"},
    {467, "open_tree_attr", EPERM, "changes the tree of mounts"},
    {470, "listns", EPERM, "lists namespaces of the machine"},
};

constexpr Syscall kJudged[] = {
    {2, "open", 0, kOpenMode1, Binds::kEveryone, "creates set-id files"},
    {16, "ioctl", 0, kIoctl, Binds::kEveryone, "injects input into a terminal or takes it over"},
    {41, "socket", 0, kSocket, Binds::kEveryone, "only UNIX, IP and routing sockets, no raw packets"},
    {44, "sendto", 0, kSendFlags3, Binds::kEveryone, "connects without connect(2)"},
    {46, "sendmsg", 0, kSendFlags2, Binds::kEveryone, "connects without connect(2)"},
    {53, "socketpair", 0, kSocket, Binds::kEveryone, "only UNIX, IP and routing sockets, no raw packets"},
    {56, "clone", 0, kClone, Binds::kEveryone, "makes a namespace"},
    {85, "creat", 0, kMode1, Binds::kEveryone, "creates set-id files"},
    {90, "chmod", 0, kMode1, Binds::kEveryone, "makes set-id files"},
    {91, "fchmod", 0, kMode1, Binds::kEveryone, "makes set-id files"},
    {133, "mknod", 0, kNodeMode1, Binds::kEveryone, "makes devices or set-id files"},
    {135, "personality", 0, kPersonality, Binds::kEveryone, "weakens address space protection"},
    {144, "sched_setscheduler", 0, kScheduler, Binds::kEveryone, "real-time classes starve the machine"},
    {157, "prctl", 0, kPrctl, Binds::kEveryone, "rewrites the memory map shown of a process"},
    {257, "openat", 0, kOpenMode2, Binds::kEveryone, "creates set-id files"},
    {259, "mknodat", 0, kNodeMode2, Binds::kEveryone, "makes devices or set-id files"},
    {268, "fchmodat", 0, kMode2, Binds::kEveryone, "makes set-id files"},
    {272, "unshare", 0, kUnshare, Binds::kEveryone, "makes a namespace"},
    {307, "sendmmsg", 0, kSendFlags3, Binds::kEveryone, "connects without connect(2)"},
    {317, "seccomp", 0, kSeccomp, Binds::kEveryone, "a listener stands before the engine's own"},
    {319, "memfd_create", 0, kMemfd, Binds::kEveryone, "runs programs from memory"},
    // Its flags lie in memory, where no filter can read them. ENOSYS: the C library then takes clone(2). PID 1 needs
    // it to start a command inside its cgroup.
    {435, "clone3", ENOSYS, {}, Binds::kCommands, "its flags lie in memory, where no filter can read them"},
    {452, "fchmodat2", 0, kMode2, Binds::kEveryone, "makes set-id files"},
};

consteval std::size_t Count() {
  std::size_t count = std::size(kRefused) + std::size(kJudged);
  for (const Allowed& calls : kAllowed) count += calls.count();
  return count;
}
constexpr std::size_t kCount = Count();

consteval std::array<Syscall, kCount> Merge() {
  std::array<Syscall, kCount> table{};
  std::size_t next = 0;
  for (const Allowed& calls : kAllowed) {
    std::string_view rest = calls.names;
    for (std::uint16_t number = calls.first; !rest.empty(); ++number) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      table[next++] = {number, name, 0, {}, Binds::kEveryone, ""};
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
  }
  for (const Refused& call : kRefused) {
    table[next++] = {call.number, call.name, call.error, {}, Binds::kEveryone, call.why};
  }
  for (const Syscall& call : kJudged) table[next++] = call;
  std::sort(table.begin(), table.end(), [](const Syscall& a, const Syscall& b) { return a.number < b.number; });
  return table;
}

constexpr std::array<Syscall, kCount> kTable = Merge();

// x86-64 left 337 to 423 free, to number alike with the other architectures from 424 on.
constexpr bool IsWithoutGap() {
  std::uint16_t expected = 0;
  for (const Syscall& call : kTable) {
    if (expected == 337) expected = 424;
    if (call.number != expected++) return false;
  }
  return true;
}
static_assert(IsWithoutGap());

}  // namespace

std::span<const Syscall> SyscallTable() { return kTable; }

const Syscall* FindSyscall(std::uint32_t number) {
  const auto found = std::lower_bound(kTable.begin(), kTable.end(), number,
                                      [](const Syscall& call, std::uint32_t wanted) { return call.number < wanted; });
  return found != kTable.end() && found->number == number ? &*found : nullptr;
}

}  // namespace caisson::plan
