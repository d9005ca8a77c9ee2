// bench-calls: how often a second one process gets each of a few things from its kernel, one "NAME NUMBER" a line.
// Small and static: it runs as it is in every kind of sandbox and outside.

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/statistics.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kUsage = "bench-calls FOLDER MILLISECONDS";
// What a process that was started by this one is called with: it ends at once.
constexpr std::string_view kEndAtOnce = "end";
constexpr std::uint64_t kLongestMilliseconds = 60'000;
constexpr std::size_t kSmallFile = 4096;
constexpr std::size_t kBlock = std::size_t{1} << 20U;
constexpr std::size_t kBlocks = 32;

struct Task {
  std::string folder;
  std::chrono::milliseconds lasts{};
};

struct Pipe {
  os::Fd reader;
  os::Fd writer;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(Error::FromErrno(errno, "cannot make a pipe"));
  return Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
}

// How often a second `act` is done: for `lasts`, looking at the clock after each `batch` of them.
template <typename Act>
Result<double> Rate(std::chrono::milliseconds lasts, int batch, Act act) {
  std::uint64_t done = 0;
  const auto start = Clock::now();
  auto now = start;
  do {
    for (int i = 0; i < batch; ++i) CAISSON_CHECK_OK(act());
    done += static_cast<std::uint64_t>(batch);
    now = Clock::now();
  } while (now - start < lasts);
  return static_cast<double>(done) / std::chrono::duration<double>(now - start).count();
}

Result<double> ParentIds(const Task& task) {
  return Rate(task.lasts, 100, []() -> Status {
    static_cast<void>(::syscall(SYS_getppid));
    return {};
  });
}

Result<double> Clocks(const Task& task) {
  return Rate(task.lasts, 100, []() -> Status {
    timespec time = {};
    if (::clock_gettime(CLOCK_MONOTONIC, &time) != 0) return Fail(Error::FromErrno(errno, "cannot read the clock"));
    return {};
  });
}

Result<double> Opens(const Task& task) {
  return Rate(task.lasts, 20, []() -> Status {
    const os::Fd file(::openat(AT_FDCWD, "/usr/bin/env", O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open /usr/bin/env"));
    return {};
  });
}

// Sends back every byte until the other side is gone.
[[noreturn]] void Echo(int in, int out) {
  char byte = 0;
  while (::read(in, &byte, 1) == 1 && ::write(out, &byte, 1) == 1) {
  }
  ::_exit(0);
}

// A byte to another process and back.
Result<double> RoundTrips(const Task& task) {
  CAISSON_TRY(Pipe there, MakePipe());
  CAISSON_TRY(Pipe back, MakePipe());
  const pid_t child = ::fork();
  if (child < 0) return Fail(Error::FromErrno(errno, "cannot fork"));
  if (child == 0) {
    there.writer.Reset();
    Echo(there.reader.get(), back.writer.get());
  }
  back.writer.Reset();
  auto rate = Rate(task.lasts, 10, [&]() -> Status {
    char byte = 'b';
    if (::write(there.writer.get(), &byte, 1) == 1 && ::read(back.reader.get(), &byte, 1) == 1) return {};
    return Fail(Error(Code::kInternal, "the other process of the pipes has ended"));
  });
  there.writer.Reset();
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return Fail(Error::FromErrno(errno, "cannot wait for a process"));
  return rate;
}

Result<double> Processes(const Task& task) {
  return Rate(task.lasts, 1, []() -> Status {
    std::string program = "/proc/self/exe";
    std::string argument(kEndAtOnce);
    const std::array<char*, 3> arguments = {program.data(), argument.data(), nullptr};
    pid_t child = -1;
    if (const int error = ::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), nullptr);
        error != 0) {
      return Fail(Error::FromErrno(error, "cannot start a process"));
    }
    int status = 0;
    if (::waitpid(child, &status, 0) == child && status == 0) return {};
    return Fail(Error(Code::kInternal, "a process did not end as it should"));
  });
}

// A small file made, written, closed and removed.
Result<double> SmallFiles(const Task& task) {
  const std::string path = task.folder + "/small";
  const std::string content(kSmallFile, 'b');
  return Rate(task.lasts, 5, [&]() -> Status {
    {
      const os::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
      if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot make " + path));
      CAISSON_CHECK_OK(os::WriteAll(file.get(), content));
    }
    if (::unlink(path.c_str()) != 0) return Fail(Error::FromErrno(errno, "cannot remove " + path));
    return {};
  });
}

// Blocks of 1 MiB, over and over through one file of 32.
Result<std::pair<double, double>> Blocks(const Task& task) {
  const std::string path = task.folder + "/large";
  std::string block(kBlock, 'b');
  const os::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot make " + path));
  std::size_t next = 0;
  const auto offset = [&next] { return static_cast<off_t>((next++ % kBlocks) * kBlock); };
  const auto transfer = [&](auto call) -> Status {
    if (call(file.get(), block.data(), block.size(), offset()) == static_cast<ssize_t>(kBlock)) return {};
    return Fail(Error::FromErrno(errno, "a block did not pass whole"));
  };
  for (std::size_t i = 0; i < kBlocks; ++i) CAISSON_CHECK_OK(transfer(::pwrite));
  CAISSON_TRY(const double written, Rate(task.lasts, 1, [&] { return transfer(::pwrite); }));
  CAISSON_TRY(const double read, Rate(task.lasts, 1, [&] { return transfer(::pread); }));
  if (::unlink(path.c_str()) != 0) return Fail(Error::FromErrno(errno, "cannot remove " + path));
  return std::pair(written, read);
}

void AddLine(std::string& lines, std::string_view name, double rate) {
  lines += std::string(name) + " " + std::to_string(static_cast<std::uint64_t>(rate)) + "\n";
}

Result<std::string> Measure(const Task& task) {
  constexpr std::pair<std::string_view, Result<double> (*)(const Task&)> kRates[] = {
      {"getppid", ParentIds},          {"clock_gettime", Clocks}, {"open_close", Opens},
      {"pipe_round_trip", RoundTrips}, {"process", Processes},    {"small_file", SmallFiles},
  };
  std::string lines;
  for (const auto& [name, measure] : kRates) {
    CAISSON_TRY(const double rate, measure(task));
    AddLine(lines, name, rate);
  }
  CAISSON_TRY(const auto blocks, Blocks(task));
  AddLine(lines, "write_mib", blocks.first);
  AddLine(lines, "read_mib", blocks.second);
  return lines;
}

Result<std::string> Run(const std::vector<std::string_view>& arguments) {
  if (arguments.size() != 2) return Fail(Error(Code::kInvalidArgument, std::string(kUsage)));
  CAISSON_TRY(const std::uint64_t lasts, ParseCount(arguments[1], "MILLISECONDS", 1, kLongestMilliseconds));
  return Measure({.folder = std::string(arguments[0]), .lasts = std::chrono::milliseconds(lasts)});
}

}  // namespace
}  // namespace caisson::bench

int main(int argc, char** argv) {
  using namespace caisson;
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == bench::kEndAtOnce) return 0;
  const auto lines = bench::Run(arguments);
  if (lines && os::WriteAll(STDOUT_FILENO, *lines)) return 0;
  if (!lines) static_cast<void>(os::WriteAll(STDERR_FILENO, "bench-calls: " + bench::Describe(lines.error()) + "\n"));
  return 1;
}
