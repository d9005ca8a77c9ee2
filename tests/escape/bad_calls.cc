// System calls that no sandboxed program needs, each with arguments the kernel refuses. A filter answers before the
// kernel looks at them; without one the answer is EFAULT, EINVAL or EBADF, and nothing has happened either way.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "escape/probe.h"

namespace caisson::escape {
namespace {

// Newer than the oldest headers we build with.
constexpr long kSetMempolicyHomeNode = 450;
constexpr long kOpenTreeAttr = 467;

constexpr unsigned long kBad = 1;     // an address nothing is mapped at
constexpr unsigned long kAll = ~0UL;  // flags, commands and descriptors that do not exist
constexpr unsigned long kCwd = static_cast<unsigned long>(-100L);
constexpr unsigned long kInit = 1;

struct BadCall {
  const char* name;
  const char* catalogue;
  long number;
  std::array<unsigned long, 6> arguments;
};

constexpr BadCall kBadCalls[] = {
    {"io_uring_setup", "F1", SYS_io_uring_setup, {1, kBad}},
    {"io_uring_enter", "F1", SYS_io_uring_enter, {kAll}},
    {"io_uring_register", "F1", SYS_io_uring_register, {kAll, kAll}},
    {"clone3", "F2", SYS_clone3, {0, 0}},
    {"userfaultfd", "F7", SYS_userfaultfd, {kAll}},
    {"memfd_secret", "F7", SYS_memfd_secret, {kAll}},
    {"mount", "F7", SYS_mount, {kBad, kBad, kBad, 0, 0}},
    {"umount2", "F7", SYS_umount2, {kBad, 0}},
    {"pivot_root", "F7", SYS_pivot_root, {kBad, kBad}},
    {"fsopen", "F3", SYS_fsopen, {kBad, 0}},
    {"fsconfig", "F3", SYS_fsconfig, {kAll, kAll}},
    {"fsmount", "F3", SYS_fsmount, {kAll, 0, 0}},
    {"fspick", "F3", SYS_fspick, {kCwd, kBad, 0}},
    {"open_tree", "F3", SYS_open_tree, {kCwd, kBad, 0}},
    {"open_tree_attr", "F3", kOpenTreeAttr, {kCwd, kBad, 0, kBad, kAll}},
    {"move_mount", "F3", SYS_move_mount, {kCwd, kBad, kCwd, kBad, 0}},
    {"mount_setattr", "F3", SYS_mount_setattr, {kCwd, kBad, 0, kBad, 0}},
    {"bpf", "F7", SYS_bpf, {kAll, 0, 0}},
    {"perf_event_open", "F7", SYS_perf_event_open, {kBad, 0, kAll, kAll, 0}},
    {"fanotify_init", "F7", SYS_fanotify_init, {kAll, 0}},
    {"keyctl", "D11", SYS_keyctl, {kAll}},
    {"add_key", "D11", SYS_add_key, {kBad, kBad, 0, 0, 0}},
    {"request_key", "D11", SYS_request_key, {kBad, kBad, 0, 0}},
    {"process_vm_writev", "D10", SYS_process_vm_writev, {kInit, kBad, 1, kBad, 1, 0}},
    {"process_madvise", "F7", SYS_process_madvise, {kAll, kBad, 1, 0, 0}},
    {"kcmp", "F7", SYS_kcmp, {kInit, kInit, kAll, 0, 0}},
    {"pidfd_getfd", "C5", SYS_pidfd_getfd, {kAll, 0, 0}},
    {"name_to_handle_at", "D3", SYS_name_to_handle_at, {kCwd, kBad, kBad, kBad, 0}},
    {"open_by_handle_at", "D3", SYS_open_by_handle_at, {kCwd, kBad, 0}},
    {"kexec_load", "F7", SYS_kexec_load, {0, kAll, kBad, kAll}},
    {"kexec_file_load", "F7", SYS_kexec_file_load, {kAll, kAll, 0, 0, kAll}},
    {"init_module", "F7", SYS_init_module, {kBad, 0, kBad}},
    {"finit_module", "F7", SYS_finit_module, {kAll, kBad, 0}},
    {"delete_module", "F7", SYS_delete_module, {kBad, 0}},
    {"reboot", "F7", SYS_reboot, {0, 0, 0, 0}},
    {"swapon", "F7", SYS_swapon, {kBad, 0}},
    {"swapoff", "F7", SYS_swapoff, {kBad}},
    {"acct", "F7", SYS_acct, {kBad}},
    {"quotactl", "F7", SYS_quotactl, {kAll, kBad, 0, kBad}},
    {"quotactl_fd", "F7", SYS_quotactl_fd, {kAll, kAll, 0, kBad}},
    {"sysfs_call", "F7", SYS_sysfs, {kAll}},
    {"ustat", "F7", SYS_ustat, {0, kBad}},
    {"settimeofday", "F7", SYS_settimeofday, {kBad, 0}},
    {"clock_settime", "F7", SYS_clock_settime, {0, kBad}},
    {"clock_adjtime", "F7", SYS_clock_adjtime, {0, kBad}},
    {"adjtimex", "F7", SYS_adjtimex, {kBad}},
    {"sethostname", "F7", SYS_sethostname, {kBad, 4}},
    {"setdomainname", "F7", SYS_setdomainname, {kBad, 4}},
    {"iopl", "F7", SYS_iopl, {kAll}},
    {"ioperm", "F7", SYS_ioperm, {kAll, 1, 1}},
    {"mbind", "F7", SYS_mbind, {0, 4096, kAll, 0, 0, 0}},
    {"set_mempolicy", "F7", SYS_set_mempolicy, {kAll, 0, 0}},
    {"get_mempolicy", "F7", SYS_get_mempolicy, {0, 0, 0, 0, kAll}},
    {"set_mempolicy_home_node", "F7", kSetMempolicyHomeNode, {0, 4096, 0, kAll}},
    {"migrate_pages", "F7", SYS_migrate_pages, {0, 64, kBad, kBad}},
    {"move_pages", "F7", SYS_move_pages, {0, 1, kBad, kBad, kBad, kAll}},
};

}  // namespace

Probes BadCallProbes() {
  Probes probes;
  for (const BadCall& call : kBadCalls) {
    probes.push_back(
        {call.name, call.catalogue, std::string("reach the kernel's code of ") + call.name, [&call](const Context&) {
           const auto& a = call.arguments;
           return FromReturn(::syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]));
         }});
  }
  return probes;
}

}  // namespace caisson::escape
