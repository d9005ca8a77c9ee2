#include "caisson/cli/daemon_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "caisson/base/deadline.h"
#include "caisson/base/units.h"
#include "caisson/base/utf8.h"
#include "caisson/cli/node.h"
#include "caisson/os/process.h"

namespace caisson::cli {
namespace {

// What the last child needs, made before the fork: it may only do system calls.
struct Child {
  const char* program = nullptr;
  char* const* argv = nullptr;
  int null = -1;
  int log = -1;
  int report = -1;  // gets the child's pid, then an errno when the program does not start
};

[[noreturn]] void BecomeDaemon(const Child& child) {
  const pid_t self = getpid();
  (void)!write(child.report, &self, sizeof self);
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)signal(SIGPIPE, SIG_DFL);
  if (dup2(child.null, STDIN_FILENO) >= 0 && dup2(child.null, STDOUT_FILENO) >= 0 &&
      dup2(child.log, STDERR_FILENO) >= 0 && chdir("/") == 0) {
    // Whatever this process was given beyond them is not for a program that outlives it.
    (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    execv(child.program, child.argv);
  }
  const int error = errno;
  (void)!write(child.report, &error, sizeof error);
  _exit(127);
}

// The daemon; nothing when it has ended already. Two forks, so that it is nobody's child who could forget to wait for
// it.
Result<std::optional<os::PidFd>> Fork(const Child& child, const os::Fd& report) {
  const pid_t middle = fork();
  if (middle < 0) return Fail(Error::FromErrno(errno, "cannot start the daemon"));
  if (middle == 0) {
    (void)setsid();
    const pid_t last = fork();
    if (last == 0) BecomeDaemon(child);
    _exit(last < 0 ? 1 : 0);
  }
  int status = 0;
  while (waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  pid_t pid = 0;
  if (status != 0 || read(report.get(), &pid, sizeof pid) != static_cast<ssize_t>(sizeof pid)) {
    return Fail(Error(Code::kResourceExhausted, "cannot start the daemon").Because("no process could be made"));
  }
  Result<os::PidFd> daemon = os::PidFd::Open(pid);
  if (daemon) return std::optional(std::move(*daemon));
  if (daemon.error().errno_value() == ESRCH) return std::optional<os::PidFd>();
  return Fail(std::move(daemon).error());
}

Result<os::Fd> OpenLog(const DaemonStart& start) {
  if (mkdir(start.folder.c_str(), 0711) != 0 && errno != EEXIST) {
    return Fail(Error::FromErrno(errno, "cannot make the folder " + Quoted(start.folder)));
  }
  const std::string path = start.folder + "/daemon.log";
  os::Fd log(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!log.valid()) return Fail(Error::FromErrno(errno, "cannot open the log of the daemon " + Quoted(path)));
  return log;
}

Error DidNotStart(const os::Fd& log, const DaemonStart& start, Code code, std::string message) {
  std::array<char, 4096> text{};
  struct stat info{};
  (void)fstat(log.get(), &info);
  const off_t from = std::max<off_t>(0, info.st_size - static_cast<off_t>(text.size()));
  const ssize_t length = pread(log.get(), text.data(), text.size(), from);
  const std::string said = LastLines({text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))});
  return Error(code, std::move(message))
      .Because(said.empty() ? "it said nothing" : said)
      .Remedy("see " + start.folder + "/daemon.log, or run `caisson serve` by hand");
}

}  // namespace

std::string LastLines(const std::string& log) {
  constexpr std::size_t kMostLines = 3;
  constexpr std::size_t kMostBytes = 500;
  std::size_t end = log.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  std::size_t begin = end;
  for (std::size_t lines = 0; begin > 0; --begin) {
    if (log[begin - 1] == '\n' && ++lines == kMostLines) break;
  }
  if (end + 1 - begin > kMostBytes) begin = end + 1 - kMostBytes;
  std::string text;
  for (; begin <= end; ++begin) text += log[begin] == '\n' ? std::string("; ") : std::string(1, log[begin]);
  return Printable(text);
}

Status StartDaemon(const DaemonStart& start) {
  CAISSON_TRY(const os::Fd log, OpenLog(start));
  const os::Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  std::array<int, 2> ends{};
  if (!null.valid() || pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(Error::FromErrno(errno, "cannot start the daemon"));
  }
  const os::Fd report(ends[0]);
  os::Fd report_end(ends[1]);
  std::vector<std::string> words = start.arguments;
  words.insert(words.begin(), start.program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  CAISSON_TRY(const std::optional<os::PidFd> daemon,
              Fork({start.program.c_str(), argv.data(), null.get(), log.get(), report_end.get()}, report));
  report_end.Reset();

  int error = 0;
  if (read(report.get(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    return Fail(Error::FromErrno(error, "cannot start " + Quoted(start.program)));
  }
  const Deadline deadline = Deadline::In(start.patience);
  while (true) {
    // Asked before it is looked whether it still lives: one that found another at its place ends, and that one answers.
    const bool has_ended = !daemon || daemon->Ended(Deadline::In(std::chrono::milliseconds(0)));
    CAISSON_TRY(const bool answers, NodeAnswers(start.endpoint));
    if (answers) return {};
    if (has_ended) return Fail(DidNotStart(log, start, Code::kUnavailable, "the daemon ended at its start"));
    if (deadline.Passed()) {
      return Fail(DidNotStart(log, start, Code::kDeadlineExceeded,
                              "the daemon did not answer within " + FormatDuration(start.patience)));
    }
    (void)daemon->Ended(Deadline::In(std::chrono::milliseconds(20)));
  }
}

}  // namespace caisson::cli
