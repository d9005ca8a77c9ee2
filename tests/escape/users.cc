#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <thread>

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

// The same change of identity by another call.
Probe ChangesIdentity(const char* name, const char* act, long number, long a, long b) {
  return {name, "D2", act, [number, a, b](const Context&) { return FromReturn(::syscall(number, a, b)); }};
}

// These two tell what the id was before, and so only a second call tells whether the first did anything.
Probe ChangesFileIdentity(const char* name, const char* act, long number) {
  return {name, "D2", act, [number](const Context&) {
            ::syscall(number, kStranger);
            return ::syscall(number, -1) == static_cast<long>(kStranger) ? Succeeded() : Refused(EPERM);
          }};
}

Outcome ShrinkBoundingSet(const Context&) { return FromReturn(::prctl(PR_CAPBSET_DROP, CAP_WAKE_ALARM, 0, 0, 0)); }

Outcome SetSecureBits(const Context&) {
  return FromReturn(::prctl(PR_SET_SECUREBITS, ::prctl(PR_GET_SECUREBITS, 0, 0, 0, 0), 0, 0, 0));
}

// What /proc says of one thread, in words when it is less confined than a command must be.
std::string Laxness(const std::string& status_file) {
  std::istringstream lines(Content(status_file));
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    const std::string value = line.substr(line.find('\t') + 1);
    const bool is_capability =
        line.starts_with("CapPrm:") || line.starts_with("CapEff:") || line.starts_with("CapBnd:");
    if (is_capability && value.find_first_not_of('0') != std::string::npos) found = line;
    if (line.starts_with("NoNewPrivs:") && value != "1") found = line;
    if (line.starts_with("Seccomp:") && value != "2") found = line;
  }
  return found;
}

Outcome RunUnconfinedThread(const Context&) {
  std::string found;
  std::thread([&found] { found = Laxness("/proc/thread-self/status"); }).join();
  return found.empty() ? Refused(EPERM) : Succeeded(found);
}

// Process 1 is judged elsewhere: it needs what it has to start commands.
Outcome FindUnconfinedProcess(const Context&) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name == "1" || name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const std::string found = Laxness(entry.path().string() + "/status"); !found.empty()) {
      return Succeeded("process " + name + ": " + found);
    }
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
      {"hold_capability", "D2", "have a capability in any set", HoldCapability},
      {"capset", "D2", "raise CAP_SYS_ADMIN", RaiseCapabilities},
      {"become_root", "D2", "setresuid to 0", BecomeRoot},
      {"become_stranger", "D2", "setresuid to another user", BecomeStranger},
      {"change_group", "D6", "setresgid to another group", ChangeGroup},
      {"setgroups", "D6", "drop supplementary groups", DropGroups},
      {"extra_groups", "D6", "have a supplementary group", HoldExtraGroups},
      ChangesIdentity("setuid_stranger", "setuid to another user", SYS_setuid, kStranger, 0),
      ChangesIdentity("setreuid_stranger", "setreuid to another user", SYS_setreuid, kStranger, kStranger),
      ChangesIdentity("setgid_stranger", "setgid to another group", SYS_setgid, kStranger, 0),
      ChangesIdentity("setregid_stranger", "setregid to another group", SYS_setregid, kStranger, kStranger),
      ChangesFileIdentity("setfsuid_stranger", "act on files as another user", SYS_setfsuid),
      ChangesFileIdentity("setfsgid_stranger", "act on files as another group", SYS_setfsgid),
      {"bounding_set", "D2", "change its bounding set", ShrinkBoundingSet},
      {"secure_bits", "D2", "set its secure bits", SetSecureBits},
      {"unconfined_thread", "F12", "have a thread that is less confined", RunUnconfinedThread},
      {"unconfined_process", "F12", "see a process that is less confined, beside process 1", FindUnconfinedProcess},
      {"unconfined", "F12", "run without no_new_privs or without a filter", RunUnconfined},
      {"setuid_program", "D4", "gain a user through a setuid program", RunSetuidProgram},
      {"suid_mount", "D4", "have a mount without nosuid", FindSuidMount},
      {"host_uid", "D7", "be mapped to an ordinary user of the host", HoldHostUid},
  };
}

}  // namespace caisson::escape
