#include "escape/report.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "caisson/os/fd.h"

namespace caisson::escape {
namespace {

constexpr unsigned kDeadlineSeconds = 30;
constexpr int kExitRefused = 10;
constexpr int kExitNotRun = 77;

// Whatever a probe mounts or unmounts happens in a copy of the mount table, where the kernel grants one. It does
// outside, as root; inside it refuses, and the probes meet the sandbox as it is. False when a copy was made but still
// leads back.
bool EnterPrivateMountTable() {
  if (::syscall(SYS_unshare, CLONE_NEWNS) != 0) return true;
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

Outcome Attempt(const Probe& probe, const Context& context) {
  if (!EnterPrivateMountTable()) return NotRun("the mount table cannot be made private");
  return probe.run(context);
}

const char* ErrnoName(int error) {
  const char* name = ::strerrorname_np(error);
  return name == nullptr ? "UNKNOWN" : name;
}

const char* ResultName(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::kSucceeded:
      return "succeeded";
    case Outcome::Kind::kRefused:
      return "refused";
    case Outcome::Kind::kNotRun:
      break;
  }
  return "not_run";
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char byte : text) {
    const bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
    quoted += plain ? byte : '?';
  }
  return quoted + "\"";
}

void PrintLine(const Probe& probe, const char* result, const std::string& detail, const std::string& note) {
  const std::string line = "{\"probe\":" + Quoted(probe.name) + ",\"catalogue\":" + Quoted(probe.catalogue) +
                           ",\"result\":\"" + result + "\",\"detail\":" + Quoted(detail) + ",\"note\":" + Quoted(note) +
                           "}\n";
  (void)!::write(STDOUT_FILENO, line.data(), line.size());
}

// What the child writes into the pipe: kind, errno, note. Shorter than PIPE_BUF, so it is written whole and never
// blocks.
struct Message {
  Outcome::Kind kind = Outcome::Kind::kNotRun;
  int error = 0;
  char note[400] = {};
};

[[noreturn]] void RunInChild(const Probe& probe, const Context& context, int report) {
  ::setsid();
  ::alarm(kDeadlineSeconds);
  const Outcome outcome = Attempt(probe, context);
  Message message;
  message.kind = outcome.kind;
  message.error = outcome.error;
  std::strncpy(message.note, outcome.note.c_str(), sizeof(message.note) - 1);
  (void)!::write(report, &message, sizeof(message));
  ::_exit(0);
}

// False when the probe could not be started or said nothing.
bool RunAndPrint(const Probe& probe, const Context& context) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  const os::Fd read_end(ends[0]);
  const os::Fd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) RunInChild(probe, context, write_end.get());
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) {
    const char* signal = ::sigabbrev_np(WTERMSIG(status));
    PrintLine(probe, "killed", std::string("SIG") + (signal == nullptr ? "?" : signal), "");
    return true;
  }
  Message message;
  if (::read(read_end.get(), &message, sizeof(message)) != static_cast<ssize_t>(sizeof(message))) return false;
  const bool refused = message.kind == Outcome::Kind::kRefused;
  PrintLine(probe, ResultName(message.kind), refused ? ErrnoName(message.error) : "", message.note);
  return true;
}

}  // namespace

int RunOne(const Probe& probe, const Context& context) {
  const Outcome outcome = Attempt(probe, context);
  const std::string note = outcome.note.empty() ? "" : " (" + outcome.note + ")";
  const std::string error =
      outcome.kind == Outcome::Kind::kRefused ? std::string(" errno=") + ErrnoName(outcome.error) : "";
  std::printf("%s%s%s\n", ResultName(outcome.kind), error.c_str(), note.c_str());
  if (outcome.kind == Outcome::Kind::kRefused) return kExitRefused;
  return outcome.kind == Outcome::Kind::kNotRun ? kExitNotRun : 0;
}

int RunAll(const Probes& probes, const Context& context) {
  int status = 0;
  for (const Probe& probe : probes) {
    if (RunAndPrint(probe, context)) continue;
    PrintLine(probe, "not_run", "", "the probe ended without a result");
    status = 1;
  }
  return status;
}

}  // namespace caisson::escape
