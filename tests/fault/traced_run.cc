#include "fault/traced_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <sstream>

#include "fault/posture.h"
#include "support/host_state.h"
#include "support/temp_folder.h"

namespace caisson::fault {
namespace {

// Longer than anything of Caisson's waits for anything else, on a host where all is slow.
constexpr std::chrono::seconds kPatience{180};
constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

struct Tracee {
  std::string role;
  bool by_call = false;          // stopped at each system call
  std::optional<int> to_return;  // the errno of the call it is in, which does not happen
  int in_call = -1;
};

std::string StatusOf(pid_t pid) { return support::ReadFile("/proc/" + std::to_string(pid) + "/status"); }

// In how many pid namespaces below this one the process is.
int Depth(pid_t pid) {
  std::istringstream numbers(support::StatusField(StatusOf(pid), "NSpid"));
  int count = 0;
  for (int number = 0; numbers >> number;) ++count;
  return count - 1;
}

bool IsThread(pid_t pid) { return support::StatusField(StatusOf(pid), "Tgid") != std::to_string(pid); }

class Tracer {
 public:
  Tracer(const std::vector<std::string>& argv, const std::optional<Injection>& injection) : injection_(injection) {
    out_ = memfd_create("out", MFD_CLOEXEC);
    err_ = memfd_create("err", MFD_CLOEXEC);
    Start(argv);
  }
  ~Tracer() {
    close(out_);
    close(err_);
  }

  TracedRun Run() {
    const auto start = std::chrono::steady_clock::now();
    // Interrupts waitpid now and then, so that the deadline is seen.
    struct sigaction action{};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval tick{{1, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &tick, nullptr);
    while (true) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, __WALL);
      if (pid < 0 && errno == ECHILD) break;
      if (std::chrono::steady_clock::now() - start > kPatience) KillAll();
      if (pid > 0) Handle(pid, status);
    }
    const itimerval off{};
    setitimer(ITIMER_REAL, &off, nullptr);
    run_.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    run_.out = ReadBack(out_);
    run_.err = ReadBack(err_);
    return std::move(run_);
  }

 private:
  void Start(const std::vector<std::string>& argv) {
    std::vector<char*> pointers;
    for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    root_ = fork();
    if (root_ < 0) std::abort();
    if (root_ == 0) {
      const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (dup2(null, 0) < 0 || dup2(out_, 1) < 0 || dup2(err_, 2) < 0) _exit(126);
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    waitpid(root_, nullptr, 0);
    ptrace(PTRACE_SETOPTIONS, root_, nullptr, kOptions);
    tracees_[root_] = {.role = "engine", .to_return = {}};
    Resume(root_, 0);
  }

  static std::string ReadBack(int fd) {
    std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
    const ssize_t n = pread(fd, text.data(), text.size(), 0);
    text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return text;
  }

  void KillAll() {
    run_.hung = true;
    for (const auto& [pid, tracee] : tracees_) kill(pid, SIGKILL);
    for (const pid_t pid : early_) kill(pid, SIGKILL);
  }

  void Resume(pid_t pid, int signal) {
    const auto found = tracees_.find(pid);
    const bool by_call = found != tracees_.end() && found->second.by_call;
    ptrace(by_call ? PTRACE_SYSCALL : PTRACE_CONT, pid, nullptr, static_cast<long>(signal));
  }

  void Handle(pid_t pid, int status) {
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (pid == root_) run_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      tracees_.erase(pid);
      early_.erase(pid);
      return;
    }
    const int signal = WSTOPSIG(status);
    const int event = status >> 16;
    if (!tracees_.contains(pid)) {
      early_.insert(pid);  // its parent's report of it is on its way, and with that its role
      return;
    }
    if (signal == (SIGTRAP | 0x80)) {
      HandleCall(pid);
      Resume(pid, 0);
    } else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
      HandleBirth(pid, event);
      Resume(pid, 0);
    } else if (event == PTRACE_EVENT_EXEC) {
      HandleExec(pid);
      Resume(pid, 0);
    } else if (signal == SIGSTOP && born_.erase(pid) > 0) {
      Resume(pid, 0);
    } else {
      NoteSignal(pid, signal);
      Resume(pid, signal);
    }
  }

  void NoteSignal(pid_t pid, int signal) {
    constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
    if (std::find(std::begin(kCrashes), std::end(kCrashes), signal) == std::end(kCrashes)) return;
    run_.crashes.push_back(tracees_[pid].role + ": signal " + std::to_string(signal));
  }

  void HandleBirth(pid_t parent, int event) {
    unsigned long message = 0;
    ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &message);
    const pid_t child = static_cast<pid_t>(message);
    const std::string role = RoleOf(parent, child, event);
    tracees_[child] = {.role = role, .by_call = role != "engine", .to_return = {}};
    if (role == "guest") guest_ = child;
    born_.insert(child);
    if (early_.erase(child) > 0) {
      born_.erase(child);
      Resume(child, 0);
    }
  }

  std::string RoleOf(pid_t parent, pid_t child, int event) {
    const std::string& role = tracees_[parent].role;
    if (IsThread(child)) return role;
    if (role == "engine") return Depth(child) > 0 ? "launcher" : "engine";
    if (role == "launcher" && event == PTRACE_EVENT_VFORK) return "stand-in";
    if (role == "launcher") return forks_of_launcher_++ == 0 ? "keeper" : "storage";
    if (role == "stand-in") return "guest";
    if (role == "guest" || role == "command") return "command";
    if (role == "keeper") return "namespaces";
    return "storage-child";
  }

  void HandleExec(pid_t pid) {
    Tracee& tracee = tracees_[pid];
    if (tracee.role != "command") return;
    tracee.by_call = false;
    if (run_.posture) return;
    if (auto posture = ReadPosture(pid, guest_)) run_.posture = *std::move(posture) + protections_;
  }

  void HandleCall(pid_t pid) {
    Tracee& tracee = tracees_[pid];
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) < 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
      Enter(pid, tracee, static_cast<int>(info.entry.nr));
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
      if (tracee.to_return) {
        SetResult(pid, *tracee.to_return);
        tracee.to_return.reset();
      } else {
        NoteProtection(tracee, info.exit.rval);
      }
    }
  }

  void Enter(pid_t pid, Tracee& tracee, int number) {
    tracee.in_call = number;
    const CallSite site{tracee.role, number, counts_[{tracee.role, number}]++};
    run_.calls.push_back(site);
    if (!injection_ || run_.injected || site != injection_->site) return;
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
    registers.orig_rax = ~0ULL;  // no such call
    ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
    tracee.to_return = injection_->error;
    run_.injected = true;
  }

  static void SetResult(pid_t pid, int error) {
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
    registers.rax = static_cast<unsigned long long>(-static_cast<long long>(error));
    ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
  }

  // What no file under /proc tells of: only that the call was made and the kernel agreed.
  void NoteProtection(const Tracee& tracee, long result) {
    if (tracee.role != "guest" && tracee.role != "command") return;
    const bool is_landlock = tracee.in_call == SYS_landlock_restrict_self || tracee.in_call == SYS_landlock_add_rule;
    if (!is_landlock || result != 0) return;
    protections_ += tracee.role + (tracee.in_call == SYS_landlock_add_rule ? " added a rule\n" : " is restricted\n");
  }

  std::optional<Injection> injection_;
  TracedRun run_;
  int out_ = -1;
  int err_ = -1;
  pid_t root_ = -1;
  pid_t guest_ = -1;
  int forks_of_launcher_ = 0;
  std::string protections_;
  std::map<pid_t, Tracee> tracees_;
  std::set<pid_t> born_;   // known, and still to stop for the first time
  std::set<pid_t> early_;  // stopped for the first time, and not known yet
  std::map<std::pair<std::string, int>, int> counts_;
};

}  // namespace

TracedRun RunTraced(const std::vector<std::string>& argv, const std::optional<Injection>& injection) {
  return Tracer(argv, injection).Run();
}

}  // namespace caisson::fault
