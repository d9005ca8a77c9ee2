#include "outside.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "caisson/os/process.h"
#include "report.h"

namespace caisson::demo {
namespace {

constexpr std::size_t kMostContent = 16U << 20U;
constexpr std::chrono::seconds kLongest{60};

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the program with nothing as input, one file for both streams and no signal held back.
Result<pid_t> Spawn(std::vector<std::string> argv, std::vector<std::string> env, const std::string& folder,
                    int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, argv.front().c_str(), &actions, &attributes, PointersTo(argv).data(), PointersTo(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Fail(Error::FromErrno(error, "cannot start " + argv.front()));
  return pid;
}

Result<std::string> EndOf(pid_t pid) {
  CAISSON_TRY(const os::PidFd process, os::PidFd::Open(pid));
  const bool ended = process.Ended(Deadline::In(kLongest));
  if (!ended) (void)process.Signal(SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return Fail(Error::FromErrno(errno, "cannot wait for a program"));
  }
  if (!ended) return Fail(Error(Code::kDeadlineExceeded, "a program outside ran longer than 60 s"));
  if (WIFSIGNALED(status)) return OutcomeText(sandbox::Signaled{WTERMSIG(status)});
  return OutcomeText(sandbox::Exited{WEXITSTATUS(status)});
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::Make() {
  // Not /tmp: that may lie in memory, and a kernel before 6.3 cannot map the owners of such a folder into a sandbox.
  std::string path = "/var/tmp/caisson-demo.XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return Fail(Error::FromErrno(errno, "cannot make a folder in /var/tmp"));
  TemporaryFolder folder(path);
  if (chmod(path.c_str(), 0755) != 0) return Fail(Error::FromErrno(errno, "cannot open up " + path));
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<std::string> TemporaryFolder::MakeFolder(std::string_view name) const {
  std::string path = path_ + "/" + std::string(name);
  if (mkdir(path.c_str(), 0755) != 0) return Fail(Error::FromErrno(errno, "cannot make " + path));
  return path;
}

Status WriteFile(const std::string& path, std::string_view content) {
  const os::Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot make " + path));
  return os::WriteAll(file.get(), content);
}

Result<std::map<std::string, std::string>> ContentsOf(const std::string& folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> contents;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const os::Fd file(open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot read " + entry->path().string()));
    if (!entry->is_regular_file(error)) continue;
    CAISSON_TRY(contents[entry->path().lexically_relative(folder).string()], os::ReadAll(file.get(), kMostContent));
  }
  if (error) return Fail(Error::FromErrno(error.value(), "cannot read the folder " + folder));
  return contents;
}

Result<OutsideResult> RunOutside(const std::vector<std::string>& argv, const std::string& folder,
                                 const std::vector<std::string>& env) {
  const os::Fd output(memfd_create("output", MFD_CLOEXEC));
  if (!output.valid()) return Fail(Error::FromErrno(errno, "cannot make a file for output"));
  const auto start = std::chrono::steady_clock::now();
  CAISSON_TRY(const pid_t pid, Spawn(argv, env, folder, output.get()));
  OutsideResult result;
  CAISSON_TRY(result.outcome, EndOf(pid));
  result.duration = std::chrono::steady_clock::now() - start;
  if (lseek(output.get(), 0, SEEK_SET) != 0) return Fail(Error::FromErrno(errno, "cannot read the output"));
  CAISSON_TRY(result.output, os::ReadAll(output.get(), kMostContent));
  return result;
}

Result<LoopbackListener> LoopbackListener::Open() {
  os::Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.valid()) return Fail(Error::FromErrno(errno, "cannot make a socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.get(), generic, length) != 0 || listen(listener.get(), 8) != 0 ||
      getsockname(listener.get(), generic, &length) != 0) {
    return Fail(Error::FromErrno(errno, "cannot listen on the loopback address"));
  }
  return LoopbackListener(std::move(listener), ntohs(address.sin_port));
}

}  // namespace caisson::demo
