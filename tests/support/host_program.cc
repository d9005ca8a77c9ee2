#include "support/host_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "support/secret.h"

namespace caisson::support {
namespace {

[[noreturn]] void Stop(const char* what) {
  std::perror(what);
  std::abort();
}

struct Pipe {
  os::Fd read;
  os::Fd write;
};

Pipe MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) Stop("pipe2");
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// This process's variables, less those that the added ones replace.
std::vector<std::string> Environment(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& variable : added) replaced = replaced || variable.starts_with(name);
    if (!replaced) all.push_back(text);
  }
  return all;
}

// What the new process needs, made before it exists.
struct ChildPlan {
  const char* directory;
  char* const* argv;
  char* const* envp;
  std::array<int, 3> stdio;  // -1: closed
};

[[noreturn]] void RunChild(const ChildPlan& plan) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  for (int fd = 0; fd < 3; ++fd) {
    const int source = plan.stdio[static_cast<std::size_t>(fd)];
    if (source < 0) {
      close(fd);
    } else if (dup2(source, fd) < 0) {
      _exit(127);
    }
  }
  if (*plan.directory != '\0' && chdir(plan.directory) != 0) _exit(127);
  execvpe(plan.argv[0], plan.argv, plan.envp);
  _exit(127);
}

void SetNonBlocking(const os::Fd& fd) { fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

// One read; closes at the end. False when there is nothing now.
bool ReadSome(os::Fd& fd, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t n = read(fd.get(), buffer.data(), buffer.size());
  if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) fd.Reset();
  return n > 0;
}

}  // namespace

HostProgram::HostProgram(const ProgramSpec& spec)
    : close_input_when_sent_(!spec.input_text.empty()), input_text_(spec.input_text) {
  // Writing to a program that reads no more is the tests' everyday business.
  signal(SIGPIPE, SIG_IGN);
  const bool piped = spec.input == Input::kPipe || close_input_when_sent_;
  Pipe in = MakePipe();
  Pipe out = MakePipe();
  Pipe err = MakePipe();
  const os::Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int input = piped ? in.read.get() : spec.input == Input::kClosed ? -1 : null.get();
  const std::vector<std::string> environment = Environment(spec.env);
  const std::vector<char*> argv = Pointers(spec.argv);
  const std::vector<char*> envp = Pointers(environment);
  const ChildPlan plan{spec.directory.c_str(), argv.data(), envp.data(), {input, out.write.get(), err.write.get()}};
  start_ = std::chrono::steady_clock::now();
  pid_ = fork();
  if (pid_ == 0) RunChild(plan);
  if (pid_ < 0) Stop("fork");
  auto process = os::PidFd::Open(pid_);
  if (!process) Stop("pidfd_open");
  process_ = *std::move(process);
  if (piped) in_fd_ = std::move(in.write);
  out_fd_ = std::move(out.read);
  err_fd_ = std::move(err.read);
  for (const os::Fd* fd : {&in_fd_, &out_fd_, &err_fd_}) {
    if (fd->valid()) SetNonBlocking(*fd);
  }
}

HostProgram::~HostProgram() {
  if (!process_.valid()) return;
  LookForSecrets(out_);
  LookForSecrets(err_);
  Signal(SIGKILL);
  process_.Reap();
}

void HostProgram::CloseInput() {
  close_input_when_sent_ = true;
  if (input_text_.empty()) in_fd_.Reset();
}

bool HostProgram::Pump(const Deadline& deadline) {
  const bool sends = in_fd_.valid() && !input_text_.empty();
  std::array<pollfd, 4> entries{{{process_.get(), POLLIN, 0},
                                 {out_fd_.get(), POLLIN, 0},
                                 {err_fd_.get(), POLLIN, 0},
                                 {sends ? in_fd_.get() : -1, POLLOUT, 0}}};
  if (poll(entries.data(), entries.size(), deadline.PollTimeout()) < 0 && errno != EINTR) Stop("poll");
  if (entries[1].revents != 0) ReadSome(out_fd_, out_);
  if (entries[2].revents != 0) ReadSome(err_fd_, err_);
  if (entries[3].revents != 0) {
    const ssize_t n = write(in_fd_.get(), input_text_.data(), input_text_.size());
    if (n > 0) input_text_.erase(0, static_cast<std::size_t>(n));
    const bool refused = n < 0 && errno != EAGAIN && errno != EINTR;
    if (refused) input_text_.clear();
    if (refused || (input_text_.empty() && close_input_when_sent_)) in_fd_.Reset();
  }
  return entries[0].revents == 0 && !deadline.Passed();
}

// A child of the program may keep the pipes open: what it writes later is not waited for.
void HostProgram::Drain() {
  while (out_fd_.valid() && ReadSome(out_fd_, out_)) {
  }
  while (err_fd_.valid() && ReadSome(err_fd_, err_)) {
  }
}

bool HostProgram::AwaitOutput(std::string_view text, std::chrono::milliseconds patience) {
  const Deadline deadline = Deadline::In(patience);
  const auto found = [&] { return out_.find(text) != std::string::npos || err_.find(text) != std::string::npos; };
  while (!found()) {
    if (Pump(deadline)) continue;
    Drain();
    return found();
  }
  return true;
}

Ended HostProgram::Wait(std::chrono::milliseconds patience) {
  const Deadline deadline = Deadline::In(patience);
  while (Pump(deadline)) {
  }
  if (!process_.Ended(Deadline::In(std::chrono::milliseconds(0)))) {
    ADD_FAILURE() << "a program did not end in " << patience.count() << " ms; it wrote: " << out_.substr(0, 2000)
                  << err_.substr(0, 2000);
    Signal(SIGKILL);
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = os::PidFd();
  Drain();
  LookForSecrets(out_);
  LookForSecrets(err_);
  Ended ended;
  ended.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.status = WIFSIGNALED(status) ? 128 + ended.signal : WEXITSTATUS(status);
  ended.out = std::move(out_);
  ended.err = std::move(err_);
  return ended;
}

Ended RunProgram(const ProgramSpec& spec, std::chrono::milliseconds patience) {
  HostProgram program(spec);
  return program.Wait(patience);
}

}  // namespace caisson::support
