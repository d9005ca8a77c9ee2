// The same file by another name: what is refused by its path must be refused by every alias of it.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

Outcome ReadCanaryBelow(const Context& context, const std::string& prefix) {
  const std::string* canary = context.Find("canary");
  return canary == nullptr ? NotRun("needs --canary") : TryRead(prefix + *canary);
}

Outcome ReadByThreadRoot(const Context& context) { return ReadCanaryBelow(context, "/proc/thread-self/root"); }

Outcome ReadByTaskRoot(const Context& context) {
  return ReadCanaryBelow(context, "/proc/self/task/" + std::to_string(::gettid()) + "/root");
}

Outcome ReadByWorkingDirectory(const Context& context) {
  if (::chdir("/") != 0) return Refused(errno, "chdir");
  return ReadCanaryBelow(context, "/proc/self/cwd");
}

Outcome ReadByDescriptorName(const Context& context, const std::string& directory) {
  const os::Fd root(::open("/", O_PATH | O_CLOEXEC));
  if (!root.valid()) return NotRun("cannot open the root");
  return ReadCanaryBelow(context, directory + std::to_string(root.get()));
}

Outcome ReadByProcFd(const Context& context) { return ReadByDescriptorName(context, "/proc/self/fd/"); }
Outcome ReadByDevFd(const Context& context) { return ReadByDescriptorName(context, "/dev/fd/"); }

Outcome WriteProgramByAlias(const Context&) { return TryOpen("/proc/self/root/usr/bin/pinky", O_WRONLY); }

// The program lies in the workspace, which the suite mounts read-only.
std::string OwnProgram() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

// There and back, so that nothing has changed when both were possible.
Outcome ThereAndBack(const std::string& from, const std::string& to, unsigned flags) {
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) != 0) return Refused(errno);
  const long back = ::syscall(SYS_renameat2, AT_FDCWD, to.c_str(), AT_FDCWD, from.c_str(), flags);
  return back == 0 ? Succeeded() : NotRun("cannot rename back");
}

Outcome ExchangeInWorkspace(const Context& context) {
  const std::string* other = context.Find("setuid-program");
  return other == nullptr ? NotRun("needs --setuid-program") : ThereAndBack(OwnProgram(), *other, RENAME_EXCHANGE);
}

Outcome MoveOutOfWorkspace(const Context&) {
  return ThereAndBack(OwnProgram(), "/tmp/escape-moved-" + std::to_string(::getpid()), 0);
}

// A name that is not there yet, as a link to elsewhere.
Outcome PlantLinkInWorkspace(const Context&) {
  const std::string link = OwnProgram() + ".link";
  if (::symlink("/etc", link.c_str()) != 0) return Refused(errno);
  ::unlink(link.c_str());
  return Succeeded();
}

Outcome MakeFolderInWorkspace(const Context&) {
  const std::string folder = OwnProgram() + ".d";
  if (::mkdir(folder.c_str(), 0700) != 0) return Refused(errno);
  ::rmdir(folder.c_str());
  return Succeeded();
}

}  // namespace

Probes AliasProbes() {
  return {
      {"canary_thread_root", "A16", "read a file of the host through /proc/thread-self/root", ReadByThreadRoot},
      {"canary_task_root", "A16", "the same through /proc/self/task/N/root", ReadByTaskRoot},
      {"canary_own_cwd", "A16", "the same through /proc/self/cwd", ReadByWorkingDirectory},
      {"canary_proc_fd", "A16", "the same through /proc/self/fd of the root", ReadByProcFd},
      {"canary_dev_fd", "A16", "the same through /dev/fd of the root", ReadByDevFd},
      {"system_alias_write", "A16", "open a program of /usr for writing through /proc/self/root", WriteProgramByAlias},
      {"workspace_exchange", "A14", "exchange two names of a read-only workspace", ExchangeInWorkspace},
      {"workspace_move_out", "A13", "move a read-only file into a writable place", MoveOutOfWorkspace},
      {"workspace_plant_link", "A15", "plant a link under a name that is free in a read-only workspace",
       PlantLinkInWorkspace},
      {"workspace_mkdir", "A15", "make a folder in a read-only workspace", MakeFolderInWorkspace},
  };
}

}  // namespace caisson::escape
