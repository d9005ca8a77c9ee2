#include "caisson/guest/command_start.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "caisson/base/weakened.h"
#include "caisson/guest/as_user.h"
#include "caisson/guest/file_operation.h"
#include "caisson/os/clone.h"
#include "caisson/os/fd.h"

namespace caisson::guest {
namespace {

struct Stdio {
  std::vector<os::Fd> command_ends;
  std::vector<os::Fd> host_ends;
};

Result<Stdio> MakePipes() {
  Stdio stdio;
  for (int fd = 0; fd < 3; ++fd) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return Fail(Error::FromErrno(errno, "pipe"));
    const std::size_t own = fd == 0 ? 0 : 1;
    stdio.command_ends.emplace_back(ends[own]);
    stdio.host_ends.emplace_back(ends[1 - own]);
  }
  return stdio;
}

Result<Stdio> MakeTerminal(const proto::Terminal& size) {
  os::Fd terminal(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  int unlocked = 0;
  if (!terminal.valid() || ioctl(terminal.get(), TIOCSPTLCK, &unlocked) != 0) {
    return Fail(Error::FromErrno(errno, "terminal"));
  }
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size.rows());
  window.ws_col = static_cast<unsigned short>(size.columns());
  ioctl(terminal.get(), TIOCSWINSZ, &window);
  // By descriptor, not by name: nothing in the sandbox can stand in its place.
  os::Fd command_end(ioctl(terminal.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!command_end.valid()) return Fail(Error::FromErrno(errno, "terminal"));
  Stdio stdio;
  stdio.command_ends.push_back(std::move(command_end));
  stdio.host_ends.push_back(std::move(terminal));
  return stdio;
}

std::vector<char*> Pointers(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

const char* SearchPath(const google::protobuf::RepeatedPtrField<std::string>& env) {
  for (const std::string& entry : env) {
    if (entry.starts_with("PATH=")) return entry.c_str() + 5;
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

clone_args CloneArguments(int cgroup) {
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP | CLONE_CLEAR_SIGHAND;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<std::uint64_t>(cgroup);
  return args;
}

// A process with a copy of the guest's memory that is confined like a command and then runs the file operation.
pid_t CloneForOperation(ChildPlan& plan, int cgroup, const proto::FileOperation& operation) {
  clone_args args = CloneArguments(cgroup);
  const long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) {
    if (!Confine(plan)) _exit(126);
    // Nothing is executed that would close what the guest holds.
    syscall(SYS_close_range, 3U, ~0U, 0U);
    // Nobody reads what a library says there.
    os::SetNonBlocking(STDERR_FILENO);
    RunFileOperation(operation, 0, 1);
    _exit(0);
  }
  return static_cast<pid_t>(pid);
}

ChildPlan MakePlan(const proto::StartCommand& request, const std::vector<os::Fd>& leaf, const Stdio& stdio,
                   const Confinement& confinement, const KernelPlans::Binding& binding) {
  ChildPlan plan;
  for (std::size_t i = 1; i < leaf.size() && i <= 3; ++i) plan.tasks[i - 1] = leaf[i].get();
  for (std::size_t fd = 0; fd < 3; ++fd) {
    plan.stdio[fd] = stdio.command_ends[stdio.command_ends.size() == 1 ? 0 : fd].get();
  }
  plan.has_terminal = request.has_terminal();
  plan.id = request.id();
  plan.file_size_limit = confinement.file_size_limit;
  plan.landlock = binding.thread == nullptr ? binding.rules->get() : ChildPlan::kIsUnderRules;
  plan.filter.len = static_cast<unsigned short>(confinement.command_filter.size() / sizeof(sock_filter));
  plan.filter.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(confinement.command_filter.data()));
  plan.cwd = request.cwd().c_str();
  return plan;
}

}  // namespace

tl::expected<Started, NotStarted> StartCommand(const proto::StartCommand& request, const std::vector<os::Fd>& leaf,
                                               Confinement& confinement) {
  const auto fail = [](std::string step, int error) { return tl::unexpected(NotStarted{std::move(step), error}); };
  if (leaf.size() != 1 && leaf.size() != 4) return fail("request", EINVAL);
  if (request.argv().empty() && !request.has_file_operation()) return fail("request", EINVAL);
  const bool has_plan = request.plan() != 0 && !Weakened("kernel_plan");
  const auto binding = has_plan ? confinement.plans.Bind(request.plan())
                                : std::optional(KernelPlans::Binding{.rules = &confinement.landlock});
  if (!binding) return fail("plan", ESTALE);
  Result<Stdio> stdio = [&] {
    const AsUser as_user(request.id());
    return request.has_terminal() ? MakeTerminal(request.terminal()) : MakePipes();
  }();
  if (!stdio) return fail(stdio.error().message(), stdio.error().errno_value());

  ChildPlan plan = MakePlan(request, leaf, *stdio, confinement, *binding);
  std::vector<char*> argv = Pointers(request.argv());
  std::vector<char*> envp = Pointers(request.env());
  plan.argv = argv.data();
  plan.envp = envp.data();
  plan.path = SearchPath(request.env());
  const int cgroup = leaf[0].get();
  pid_t pid = -1;
  int error = 0;
  const auto clone = [&] {
    pid = request.has_file_operation() ? CloneForOperation(plan, cgroup, request.file_operation())
                                       : os::CloneSharingMemory(CloneArguments(cgroup), RunCommandChild, &plan);
    if (pid < 0) error = errno;
  };
  if (binding->thread == nullptr) {
    clone();
  } else {
    binding->thread->Run(clone);
  }
  if (pid < 0) return fail("clone", error);
  if (plan.failed_step != nullptr) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail(plan.failed_step, plan.error);
  }
  return Started{pid, std::move(stdio->host_ends)};
}

}  // namespace caisson::guest
