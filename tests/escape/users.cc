#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

constexpr uid_t kStranger = 4242;
constexpr uid_t kNobody = 65534;

Outcome HoldCapability(const Context&) {
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    const std::string value = StatusField(set);
    if (value.find_first_not_of('0') != std::string::npos) return Succeeded(std::string(set) + " " + value);
  }
  return Refused(EPERM);
}

Outcome RaiseCapabilities(const Context&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return Refused(errno);
  data[0].permitted |= 1U << CAP_SYS_ADMIN;
  data[0].effective |= 1U << CAP_SYS_ADMIN;
  return FromReturn(::syscall(SYS_capset, &header, data));
}

Outcome BecomeRoot(const Context&) { return FromReturn(::syscall(SYS_setresuid, 0, 0, 0)); }
Outcome BecomeStranger(const Context&) { return FromReturn(::syscall(SYS_setresuid, kStranger, kStranger, kStranger)); }
Outcome ChangeGroup(const Context&) { return FromReturn(::syscall(SYS_setresgid, kStranger, kStranger, kStranger)); }
Outcome DropGroups(const Context&) { return FromReturn(::syscall(SYS_setgroups, 0, nullptr)); }

Outcome HoldExtraGroups(const Context&) {
  gid_t groups[64];
  const int count = ::getgroups(64, groups);
  for (int i = 0; i < count; ++i) {
    if (groups[i] != ::getgid()) return Succeeded("group " + std::to_string(groups[i]));
  }
  return Refused(EPERM);
}

Outcome RunUnconfined(const Context&) {
  if (StatusField("NoNewPrivs") != "1") return Succeeded("no_new_privs is off");
  if (StatusField("Seccomp") != "2") return Succeeded("no system call filter");
  return Refused(EPERM);
}

// The program given is owned by root and has the setuid bit. Run by anyone, it ends with 0 when its effective user is
// not the one who started it.
Outcome RunSetuidProgram(const Context& context) {
  const std::string* program = context.Find("setuid-program");
  if (program == nullptr) return NotRun("needs --setuid-program");
  const int status = ExitStatusOf([program] {
    // Refused inside, where root has no capability: the program then runs as who we are.
    (void)!::syscall(SYS_setresuid, kNobody, kNobody, kNobody);
    const std::string uid = std::to_string(::geteuid());
    ::execl(program->c_str(), "escape_probe", "--is-not-uid", uid.c_str(), nullptr);
    return 125;
  });
  if (status == 0) return Succeeded();
  return status == 1 ? Refused(EPERM) : NotRun("cannot run " + *program);
}

Outcome FindSuidMount(const Context&) {
  std::istringstream lines(Content("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string ignored;
    std::string target;
    std::string options;
    fields >> ignored >> ignored >> ignored >> ignored >> target >> options;
    if (("," + options + ",").find(",nosuid,") == std::string::npos) return Succeeded(target + " " + options);
  }
  return Refused(EPERM);
}

Outcome HoldHostUid(const Context&) {
  std::istringstream lines(Content("/proc/self/uid_map"));
  unsigned long inside = 0;
  unsigned long outside = 0;
  unsigned long count = 0;
  while (lines >> inside >> outside >> count) {
    if (outside < 65536) return Succeeded("uid " + std::to_string(inside) + " is " + std::to_string(outside));
  }
  return Refused(EPERM);
}

}  // namespace

Probes UserProbes() {
  return {
      {"hold_capability", "D1", "have a capability in any set", HoldCapability},
      {"capset", "D1", "raise CAP_SYS_ADMIN", RaiseCapabilities},
      {"become_root", "D2", "setresuid to 0", BecomeRoot},
      {"become_stranger", "D2", "setresuid to another user", BecomeStranger},
      {"change_group", "D6", "setresgid to another group", ChangeGroup},
      {"setgroups", "D6", "drop supplementary groups", DropGroups},
      {"extra_groups", "D6", "have a supplementary group", HoldExtraGroups},
      {"unconfined", "F12", "run without no_new_privs or without a filter", RunUnconfined},
      {"setuid_program", "D4", "gain a user through a setuid program", RunSetuidProgram},
      {"suid_mount", "D4", "have a mount without nosuid", FindSuidMount},
      {"host_uid", "D7", "be mapped to an ordinary user of the host", HoldHostUid},
  };
}

}  // namespace caisson::escape
