#include "bench/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace caisson::bench {
namespace {

// Owns what posix_spawn does to the child's descriptors.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  int Connect(int fd, int target, int open_flags) {
    if (fd < 0) return posix_spawn_file_actions_addopen(&actions_, target, "/dev/null", open_flags, 0);
    return posix_spawn_file_actions_adddup2(&actions_, fd, target);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  // execve(2) takes char* but does not write through it.
  for (const auto& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<Program> Program::Spawn(const std::vector<std::string>& argv, const StandardStreams& streams,
                               const std::vector<std::string>& environment) {
  FileActions actions;
  int error = actions.Connect(streams.in, STDIN_FILENO, O_RDONLY);
  if (error == 0) error = actions.Connect(streams.out, STDOUT_FILENO, O_WRONLY);
  if (error == 0) error = actions.Connect(streams.err, STDERR_FILENO, O_WRONLY);
  const auto arguments = Pointers(argv);
  const auto variables = Pointers(environment);
  pid_t pid = -1;
  if (error == 0) {
    error = posix_spawn(&pid, argv.front().c_str(), actions.get(), nullptr, arguments.data(),
                        environment.empty() ? environ : variables.data());
  }
  if (error != 0) return Fail(Error::FromErrno(error, "cannot start " + argv.front()));
  return Program(pid);
}

Program& Program::operator=(Program&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

Program::~Program() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  static_cast<void>(WaitForChild(pid_));
}

Result<ExitStatus> Program::Wait() { return WaitForChild(std::exchange(pid_, -1)); }

Result<ExitStatus> WaitForChild(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return Fail(Error::FromErrno(errno, "cannot wait for a child process"));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<std::string> FindOnPath(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = directory + "/" + std::string(name);
    if (!directory.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Fail(Error(Code::kNotFound, std::string(name) + " is not on PATH"));
}

Result<std::string> OwnDirectory() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Fail(Error::FromErrno(error.value(), "cannot read /proc/self/exe"));
  return program.parent_path().string();
}

}  // namespace caisson::bench
