#include "bench/floor.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>

#include "bench/floor_child.h"
#include "bench/program.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The tmpfs covers this directory, in the process's own mount namespace only.
constexpr const char* kBase = "/tmp";
constexpr const char* kLower = "/tmp/lower";
constexpr const char* kMerged = "/tmp/merged";
constexpr const char* kTrue = "/bin/true";
constexpr uid_t kFirstId = 100000;
constexpr const char* kIdMap = "0 100000 65536";
// The kernel lets go of an overlay a moment after its last process; the next mount must not meet the same upper.
constexpr int kLayers = 16;

// Sets the id maps of a child; `name` is "uid_map" or "gid_map".
Status WriteIdMap(pid_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const os::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return Fail(Error::FromErrno(errno, "cannot open " + path));
  return os::WriteAll(fd.get(), kIdMap);
}

Status MakeDirectory(const std::string& path, uid_t owner) {
  if (::mkdir(path.c_str(), 0755) != 0 || ::chown(path.c_str(), owner, owner) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make " + path));
  }
  return {};
}

// The files the loader maps for a program, by glibc's own account (LD_TRACE_LOADED_OBJECTS of ld.so(8)).
Result<std::vector<std::string>> LoadedFiles(const char* program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(Error::FromErrno(errno, "cannot make a pipe"));
  const os::Fd reader(ends[0]);
  os::Fd writer(ends[1]);
  CAISSON_TRY(auto loader,
              Program::Spawn({program}, StandardStreams{.out = writer.get()}, {"LD_TRACE_LOADED_OBJECTS=1"}));
  writer.Reset();
  CAISSON_TRY(const auto text, os::ReadAll(reader.get(), KiB(64).value));
  CAISSON_TRY(const auto status, loader.Wait());
  if (status != 0)
    return Fail(Error(Code::kUnsupported, std::string("the loader does not list the libraries of ") + program));
  std::istringstream words(text);
  std::vector<std::string> files;
  for (std::string word; words >> word;) {
    if (word.starts_with('/')) files.push_back(word);
  }
  return files;
}

Status CopyIntoLower(const std::string& file) {
  std::error_code error;
  const std::filesystem::path target = kLower + file;
  std::filesystem::create_directories(target.parent_path(), error);
  if (!error) std::filesystem::copy_file(file, target, error);
  if (error) return Fail(Error::FromErrno(error.value(), "cannot copy " + file));
  return {};
}

Status MakeLower() {
  CAISSON_TRY(const auto libraries, LoadedFiles(kTrue));
  CAISSON_CHECK_OK(MakeDirectory(kLower, 0));
  CAISSON_CHECK_OK(MakeDirectory(std::string(kLower) + "/proc", 0));
  CAISSON_CHECK_OK(CopyIntoLower(kTrue));
  for (const auto& library : libraries) CAISSON_CHECK_OK(CopyIntoLower(library));
  // Without its cache the loader would search, which a real root does not cost.
  if (::access("/etc/ld.so.cache", R_OK) == 0) CAISSON_CHECK_OK(CopyIntoLower("/etc/ld.so.cache"));
  return {};
}

Status EnterOwnMountNamespace() {
  if (::unshare(CLONE_NEWNS) != 0) return Fail(Error::FromErrno(errno, "cannot unshare the mount namespace"));
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return Fail(Error::FromErrno(errno, "cannot make mounts private"));
  }
  if (::mount("tmpfs", kBase, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) {
    return Fail(Error::FromErrno(errno, "cannot mount a tmpfs"));
  }
  return {};
}

pid_t CloneWithNamespaces() {
  clone_args arguments = {};
  arguments.flags =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  arguments.exit_signal = SIGCHLD;
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

Status Release(pid_t pid, int go_fd) {
  CAISSON_CHECK_OK(WriteIdMap(pid, "uid_map"));
  CAISSON_CHECK_OK(WriteIdMap(pid, "gid_map"));
  return os::WriteAll(go_fd, "g");
}

Error FloorFailure(ExitStatus status) {
  constexpr const char* kSteps[] = {"go", "ids", "overlay", "attach", "proc", "pivot_root", "detach", "exec"};
  const int step = status - kFirstFloorStep;
  Error error(Code::kUnsupported, "the floor failed");
  if (step < 0 || step >= static_cast<int>(std::size(kSteps))) {
    return std::move(error).Because("exit status " + std::to_string(status));
  }
  return std::move(error).Because(std::string("step ") + kSteps[step]);
}

}  // namespace

Result<Floor> Floor::Prepare() {
  CAISSON_CHECK_OK(EnterOwnMountNamespace());
  CAISSON_CHECK_OK(MakeLower());
  CAISSON_CHECK_OK(MakeDirectory(kMerged, 0));
  Floor floor;
  for (int i = 0; i < kLayers; ++i) {
    const std::string base = std::string(kBase) + "/layer" + std::to_string(i);
    const Layer layer{.upper = base + "/upper", .work = base + "/work"};
    CAISSON_CHECK_OK(MakeDirectory(base, kFirstId));
    CAISSON_CHECK_OK(MakeDirectory(layer.upper, kFirstId));
    CAISSON_CHECK_OK(MakeDirectory(layer.work, kFirstId));
    floor.layers_.push_back(layer);
  }
  return floor;
}

Result<std::chrono::nanoseconds> Floor::RunOnce() {
  const Layer& layer = layers_[next_layer_++ % layers_.size()];
  const auto start = Clock::now();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(Error::FromErrno(errno, "cannot make a pipe"));
  const os::Fd reader(ends[0]);
  const os::Fd writer(ends[1]);
  const FloorPlan plan{.lower = kLower,
                       .upper = layer.upper.c_str(),
                       .work = layer.work.c_str(),
                       .merged = kMerged,
                       .go_fd = reader.get()};
  const pid_t pid = CloneWithNamespaces();
  if (pid == 0) RunFloorChild(plan);
  if (pid < 0) return Fail(Error::FromErrno(errno, "cannot clone with new namespaces"));
  const auto released = Release(pid, writer.get());
  if (!released) ::kill(pid, SIGKILL);
  CAISSON_TRY(const auto exit_status, WaitForChild(pid));
  const auto end = Clock::now();
  CAISSON_CHECK_OK(released);
  if (exit_status != 0) return Fail(FloorFailure(exit_status));
  return end - start;
}

Result<std::chrono::nanoseconds> MeasureForkExec() {
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {nullptr};
  const auto start = Clock::now();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execve(name, arguments, environment);
    ::_exit(127);
  }
  if (pid < 0) return Fail(Error::FromErrno(errno, "cannot fork"));
  CAISSON_TRY(const auto status, WaitForChild(pid));
  const auto end = Clock::now();
  if (status != 0) return Fail(Error(Code::kInternal, "/bin/true ended with status " + std::to_string(status)));
  return end - start;
}

}  // namespace caisson::bench
