#include "support/host_state.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "caisson/base/deadline.h"
#include "caisson/os/identity.h"
#include "support/temp_folder.h"

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDataFolders[] = {"/var/lib/caisson/sandboxes", "/var/lib/caisson/spool"};
constexpr const char* kLockFile = "/run/caisson/uid-blocks";

std::vector<fs::path> Entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  return entries;
}

std::vector<std::string> ProcessIds() {
  std::vector<std::string> ids;
  for (const fs::path& path : Entries("/proc")) {
    const std::string name = path.filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) ids.push_back(name);
  }
  return ids;
}

bool IsCaissonUid(const std::string& status) {
  const unsigned long uid = std::strtoul(StatusField(status, "Uid").c_str(), nullptr, 10);
  return uid >= os::kFirstUid && uid < os::kFirstUid + std::uint64_t{os::kUidBlocks} * os::kUidsPerBlock;
}

void AddProcesses(HostState& state) {
  for (const std::string& id : ProcessIds()) {
    const std::string status = ReadFile("/proc/" + id + "/status");
    const std::string name = StatusField(status, "Name");
    if (!IsCaissonUid(status) && !name.starts_with("caisson-guest") && !name.starts_with("caisson-launch")) continue;
    const std::string stat = ReadFile("/proc/" + id + "/stat");
    // After the name come 19 fields, then the time of its start.
    std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    std::string start;
    for (int i = 0; i < 20; ++i) fields >> start;
    state.insert("process " + id + " " + name + " started at " + start);
  }
}

void AddMounts(HostState& state) {
  std::istringstream lines(ReadFile("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) state.insert("mount " + line);
}

std::string WithInode(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return {};
  return path + " inode " + std::to_string(info.st_ino);
}

void AddCgroups(HostState& state) {
  for (const std::string& folder : CgroupFolders()) {
    bool empty = true;
    for (const fs::path& entry : Entries(folder)) {
      std::error_code error;
      if (!fs::is_directory(entry, error)) continue;
      empty = false;
      if (const std::string name = WithInode(entry); !name.empty()) state.insert("cgroup " + name);
    }
    // With sandboxes in it, it belongs to them.
    if (empty) state.insert("cgroup " + WithInode(folder));
  }
}

void AddLocks(HostState& state) {
  struct stat info {};
  if (stat(kLockFile, &info) != 0) return;
  const std::string inode = ":" + std::to_string(info.st_ino) + " ";
  std::istringstream lines(ReadFile("/proc/locks"));
  for (std::string line; std::getline(lines, line);) {
    // "1: OFDLCK ADVISORY  WRITE -1 fd:00:1234 7 7"
    const std::size_t at = line.find(inode);
    if (at != std::string::npos) state.insert("uid block " + line.substr(at + inode.size()));
  }
}

}  // namespace

std::vector<std::string> CgroupFolders() {
  std::vector<std::string> folders;
  std::istringstream lines(ReadFile("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" - cgroup") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string point;
    for (int i = 0; i < 5; ++i) fields >> point;
    std::error_code error;
    if (fs::is_directory(point + "/caisson", error)) folders.push_back(point + "/caisson");
  }
  return folders;
}

HostState ReadHostState() {
  HostState state;
  AddProcesses(state);
  AddMounts(state);
  AddCgroups(state);
  AddLocks(state);
  for (const char* folder : kDataFolders) {
    for (const fs::path& entry : Entries(folder)) state.insert("file " + entry.string());
  }
  return state;
}

HostState AwaitNothingNew(const HostState& before, std::chrono::milliseconds patience) {
  const Deadline deadline = Deadline::In(patience);
  const HostState first = ReadHostState();
  HostState left;
  std::set_difference(first.begin(), first.end(), before.begin(), before.end(), std::inserter(left, left.end()));
  while (!left.empty() && !deadline.Passed()) {
    poll(nullptr, 0, 10);
    const HostState now = ReadHostState();
    std::erase_if(left, [&](const std::string& item) { return !now.contains(item); });
  }
  return left;
}

std::string UniqueMarker() {
  static std::atomic<int> next{0};
  return "caisson-test-" + std::to_string(getpid()) + "-" + std::to_string(next++) + "-mark";
}

int CountProcessesNaming(std::string_view marker) {
  int count = 0;
  for (const std::string& id : ProcessIds()) {
    if (ReadFile("/proc/" + id + "/cmdline").find(marker) != std::string::npos) ++count;
  }
  return count;
}

bool AwaitProcessesNaming(std::string_view marker, int count, std::chrono::milliseconds patience) {
  const Deadline deadline = Deadline::In(patience);
  while (true) {
    const int now = CountProcessesNaming(marker);
    if (count == 0 ? now == 0 : now >= count) return true;
    if (deadline.Passed()) return false;
    poll(nullptr, 0, 10);
  }
}

std::string StatusField(const std::string& status, std::string_view name) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const std::size_t begin = line.find_first_not_of(" \t", name.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

}  // namespace caisson::support
