#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "caisson/os/fd.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

// The number in an argument, or 0 when it was not given.
std::size_t Number(const Context& context, std::string_view key) {
  const std::string* text = context.Find(key);
  return text == nullptr ? 0 : std::strtoull(text->c_str(), nullptr, 10);
}

// A limit of exactly 1 is the one that stops a crash handler on the other end of a pipe.
Outcome LiftCoreLimit(const Context&) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return Refused(errno);
  if (limit.rlim_cur != 1 || limit.rlim_max != 1) return Succeeded("the limit is not 1");
  limit.rlim_cur = limit.rlim_max = 2;
  return FromReturn(::setrlimit(RLIMIT_CORE, &limit));
}

Outcome LockMemory(const Context&) {
  constexpr std::size_t kSize = 16 * kMiB;
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NotRun("cannot map memory");
  return FromReturn(::mlock(memory, kSize));
}

Outcome MakeMessageQueue(const Context&) {
  const std::string name = "/escape-" + std::to_string(::getpid());
  const mqd_t queue = ::mq_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600, nullptr);
  if (queue < 0) return Refused(errno);
  ::mq_close(queue);
  ::mq_unlink(name.c_str());
  return Succeeded();
}

Outcome RaisePriority(const Context&) { return FromReturn(::setpriority(PRIO_PROCESS, 0, -5)); }

// Writes `size` bytes to a file without a name in `directory`, so that nothing is left when it ends.
Outcome Fill(const char* directory, std::size_t size) {
  std::string path = std::string(directory) + "/escape-XXXXXX";
  const os::Fd fd(::mkstemp(path.data()));
  if (!fd.valid()) return NotRun(std::string("cannot write in ") + directory);
  ::unlink(path.c_str());
  const std::vector<char> block(kMiB, 'x');
  for (std::size_t written = 0; written < size;) {
    const ssize_t count = ::write(fd.get(), block.data(), block.size());
    if (count < 0) return Refused(errno, std::to_string(written / kMiB) + " MiB written");
    written += static_cast<std::size_t>(count);
  }
  return Succeeded();
}

Outcome FillSharedMemory(const Context& context) {
  const std::size_t size = Number(context, "shm-bytes");
  return size == 0 ? NotRun("needs --shm-bytes") : Fill("/dev/shm", size);
}

Outcome FillDisk(const Context& context) {
  const std::size_t size = Number(context, "disk-bytes");
  return size == 0 ? NotRun("needs --disk-bytes") : Fill("/tmp", size);
}

Outcome ForkMany(const Context& context) {
  const std::size_t count = Number(context, "forks");
  if (count == 0) return NotRun("needs --forks");
  std::vector<pid_t> children;
  Outcome outcome = Succeeded();
  while (children.size() < count) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::pause();
      ::_exit(0);
    }
    if (child < 0) {
      outcome = Refused(errno, std::to_string(children.size()) + " processes");
      break;
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  return outcome;
}

Outcome LiftFileSizeLimit(const Context&) {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  return FromReturn(::setrlimit(RLIMIT_FSIZE, &limit));
}

// Larger pipes than one user may have in all (fs.pipe-user-pages-soft).
Outcome HoardPipes(const Context&) {
  for (int count = 0; count < 80; ++count) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Refused(errno, "pipe2");
    if (::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0) return Refused(errno, std::to_string(count) + " pipes");
  }
  return Succeeded();
}

// Each takes one of the signals that a user may have pending.
Outcome MakeManyTimers(const Context&) {
  for (int count = 0; count < 2000; ++count) {
    timer_t timer = nullptr;
    if (::timer_create(CLOCK_MONOTONIC, nullptr, &timer) != 0) return Refused(errno, std::to_string(count) + " timers");
  }
  return Succeeded();
}

Outcome TakeRealTimeIo(const Context&) {
  constexpr int kWhoProcess = 1;
  constexpr int kRealTimeClass = 1 << 13;
  return FromReturn(::syscall(SYS_ioprio_set, kWhoProcess, 0, kRealTimeClass));
}

Outcome StartManyThreads(const Context& context) {
  const std::size_t count = Number(context, "forks");
  if (count == 0) return NotRun("needs --forks");
  std::vector<pthread_t> threads(count);
  for (std::size_t started = 0; started < count; ++started) {
    const auto wait = [](void*) -> void* { return ::pause(), nullptr; };
    if (const int error = ::pthread_create(&threads[started], nullptr, wait, nullptr); error != 0) {
      return Refused(error, std::to_string(started) + " threads");
    }
  }
  return Succeeded();
}

}  // namespace

Probes ResourceProbes() {
  return {
      {"core_limit", "B4", "have a core limit other than 1, or raise it", LiftCoreLimit},
      {"lock_memory", "E7", "lock 16 MiB of memory", LockMemory},
      {"message_queue", "D12", "make a message queue", MakeMessageQueue},
      {"priority", "H14", "raise its own priority", RaisePriority},
      {"file_size_limit", "H3", "lift the limit of a file's size", LiftFileSizeLimit},
      {"pipe_hoard", "H5", "have more memory in pipes than a user may", HoardPipes},
      {"timers_many", "H21", "make more timers than the limit", MakeManyTimers},
      {"io_real_time", "H15", "take the real-time class of disk work", TakeRealTimeIo},
      {"thread_many", "H1", "start more threads than the limit", StartManyThreads},
      {"fork_many", "H1", "start more processes than the limit", ForkMany},
      {"fill_shm", "H4", "write more to /dev/shm than the sandbox has memory", FillSharedMemory},
      {"fill_disk", "H3", "write more to /tmp than the disk limit", FillDisk},
  };
}

}  // namespace caisson::escape
