// bench-work: does one piece of work with files (work.h) and prints how long it took. Small and static: it runs in a
// sandbox as outside, and its start costs the same in both.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include "bench/statistics.h"
#include "bench/work.h"
#include "caisson/os/fd.h"

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Of this process, spent so far.
std::chrono::nanoseconds ProcessorTime() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr const char* kData = "data";

Result<os::Fd> OpenFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return Fail(Error::FromErrno(errno, "cannot make " + path));
  os::Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open " + path));
  return folder;
}

// Files that exist are not truncated: ext4 writes those to the disk when they are closed.
Status ChangeFiles(const os::Fd& folder, std::uint64_t files) {
  const std::string content = std::to_string(Clock::now().time_since_epoch().count());
  for (std::uint64_t i = 0; i < files; ++i) {
    const std::string name = std::to_string(i);
    const os::Fd file(::openat(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open file " + name));
    CAISSON_CHECK_OK(os::WriteAll(file.get(), content));
  }
  return {};
}

Status RemoveFiles(const os::Fd& folder, std::uint64_t files) {
  for (std::uint64_t i = 0; i < files; ++i) {
    const std::string name = std::to_string(i);
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
      return Fail(Error::FromErrno(errno, "cannot remove file " + name));
    }
  }
  return {};
}

Status WriteData(const os::Fd& folder, const Work& work, const std::string& block) {
  const os::Fd file(::openat(folder.get(), kData, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot make a file"));
  for (std::uint64_t done = 0; done < work.bytes; done += block.size()) {
    CAISSON_CHECK_OK(os::WriteAll(file.get(), block));
  }
  return {};
}

Status ReadData(const os::Fd& folder, const Work& work, std::string& block) {
  const os::Fd file(::openat(folder.get(), kData, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open a file"));
  for (std::uint64_t done = 0; done < work.bytes; done += block.size()) {
    if (::read(file.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) {
      return Fail(Error(Code::kInternal, "a file was not read in whole blocks"));
    }
  }
  return {};
}

Status RemoveData(const os::Fd& folder) {
  if (::unlinkat(folder.get(), kData, 0) == 0 || errno == ENOENT) return {};
  return Fail(Error::FromErrno(errno, "cannot remove a file"));
}

Result<std::chrono::nanoseconds> Do(const WorkOrder& order, Clock::time_point start) {
  const Work& work = order.work;
  CAISSON_TRY(const os::Fd folder, OpenFolder(order.folder));
  std::string block(work.block_bytes, 'b');
  if (work.kind == WorkKind::kWrite || work.kind == WorkKind::kRead) CAISSON_CHECK_OK(RemoveData(folder));
  // Anew, since where its pages lie in memory has a part in how quickly they are read.
  if (work.kind == WorkKind::kRead) CAISSON_CHECK_OK(WriteData(folder, work, block));
  const auto before = ProcessorTime();
  switch (work.kind) {
    case WorkKind::kChange:
      CAISSON_CHECK_OK(ChangeFiles(folder, work.files));
      while (Clock::now() - start < work.lasts) {
      }
      break;
    case WorkKind::kRemove:
      CAISSON_CHECK_OK(RemoveFiles(folder, work.files));
      break;
    case WorkKind::kWrite:
      CAISSON_CHECK_OK(WriteData(folder, work, block));
      break;
    case WorkKind::kRead:
      CAISSON_CHECK_OK(ReadData(folder, work, block));
      break;
  }
  return ProcessorTime() - before;
}

Result<std::chrono::nanoseconds> Run(const std::vector<std::string_view>& arguments, Clock::time_point start) {
  CAISSON_TRY(const WorkOrder order, ParseOrder(arguments));
  return Do(order, start);
}

}  // namespace
}  // namespace caisson::bench

int main(int argc, char** argv) {
  using namespace caisson;
  const auto start = std::chrono::steady_clock::now();
  const auto time = bench::Run({argv + 1, argv + argc}, start);
  if (time && os::WriteAll(STDOUT_FILENO, bench::FormatWorkTime(*time))) return 0;
  if (!time) static_cast<void>(os::WriteAll(STDERR_FILENO, "bench-work: " + bench::Describe(time.error()) + "\n"));
  return 1;
}
