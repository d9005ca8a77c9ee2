#include "support/host_state.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include "caisson/base/deadline.h"
#include "caisson/os/btrfs.h"
#include "caisson/os/fd.h"
#include "caisson/os/identity.h"
#include "support/temp_folder.h"

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDataFolder = "/var/lib/caisson";
// Made by the first run on a host, for all that follow.
constexpr std::array kStanding = {"images", "sandboxes", "copies",     "spool",
                                  "state",  "store.img", "store.lock", "store"};
constexpr const char* kStoreMount = "/var/lib/caisson/store";
constexpr const char* kStoreFile = "/var/lib/caisson/store.img";
// Stands in a state for what was not looked at.
constexpr const char* kOthers = "others use Caisson";
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

struct Process {
  std::string name;
  std::string state;
  pid_t parent = 0;
  bool is_caissons = false;
};

bool IsCaissonName(const std::string& name) {
  constexpr const char* kNames[] = {"caisson-guest", "caisson-keeper", "caisson-launch", "caisson-storage"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* known) { return name.starts_with(known); });
}

std::map<pid_t, Process> ReadProcesses() {
  std::map<pid_t, Process> processes;
  for (const std::string& id : ProcessIds()) {
    const std::string status = ReadFile("/proc/" + id + "/status");
    if (status.empty()) continue;
    Process process{StatusField(status, "Name"), StatusField(status, "State"),
                    static_cast<pid_t>(std::atoi(StatusField(status, "PPid").c_str())), false};
    // The kernel cuts names after 15 bytes.
    process.is_caissons = IsCaissonUid(status) || IsCaissonName(process.name);
    processes.emplace(std::atoi(id.c_str()), std::move(process));
  }
  return processes;
}

bool IsBelowThisProcess(const std::map<pid_t, Process>& processes, pid_t pid) {
  for (auto found = processes.find(pid); found != processes.end(); found = processes.find(found->second.parent)) {
    if (found->second.parent == getpid()) return true;
  }
  return false;
}

// This process gets the orphans of what it starts, and is the one who has to reap them.
bool ReapOrphan(pid_t pid, const Process& process) {
  return process.parent == getpid() && process.state.starts_with('Z') && IsCaissonName(process.name) &&
         waitpid(pid, nullptr, WNOHANG) == pid;
}

// True when others on this host use Caisson too.
bool AddProcesses(HostState& state) {
  bool others = false;
  const std::map<pid_t, Process> processes = ReadProcesses();
  for (const auto& [pid, process] : processes) {
    if (!process.is_caissons) continue;
    const bool own = IsBelowThisProcess(processes, pid);
    others = others || !own;
    if (!own || ReapOrphan(pid, process)) continue;
    // Running and sleeping are the same thing here: what lives beside the tests does both.
    state.insert("process " + std::to_string(pid) + " " + process.name + (process.state.starts_with('Z') ? " Z" : ""));
  }
  return others;
}

void AddMounts(HostState& state) {
  std::istringstream lines(ReadFile("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(std::string(" ") + kStoreMount + " ") == std::string::npos) state.insert("mount " + line);
  }
}

std::string WithInode(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return {};
  return path + " inode " + std::to_string(info.st_ino);
}

// The blocks of user ids that a live process of Caisson holds.
std::set<std::string> LockedBlocks() {
  std::set<std::string> blocks;
  struct stat info{};
  if (stat(kLockFile, &info) != 0) return blocks;
  const std::string inode = ":" + std::to_string(info.st_ino) + " ";
  std::istringstream lines(ReadFile("/proc/locks"));
  for (std::string line; std::getline(lines, line);) {
    // "1: OFDLCK ADVISORY  WRITE -1 fd:00:1234 7 9": one line for neighbours that one file description holds.
    const std::size_t at = line.find(inode);
    if (at == std::string::npos) continue;
    std::istringstream range(line.substr(at + inode.size()));
    unsigned long first = 0;
    unsigned long last = 0;
    range >> first >> last;
    for (unsigned long block = first; block <= last && block < os::kUidBlocks; ++block) {
      blocks.insert(std::to_string(block));
    }
  }
  return blocks;
}

void AddCgroups(HostState& state, const std::set<std::string>& locked) {
  for (const std::string& folder : CgroupFolders()) {
    bool empty = true;
    for (const fs::path& entry : Entries(folder)) {
      std::error_code error;
      if (!fs::is_directory(entry, error)) continue;
      empty = false;
      // Its name is "s" and the number of its block; with the block in use, so is the cgroup.
      if (locked.contains(entry.filename().string().substr(1))) continue;
      if (const std::string name = WithInode(entry); !name.empty()) state.insert("cgroup " + name);
    }
    if (empty) state.insert("cgroup " + WithInode(folder));
  }
}

void AddLoopDevices(HostState& state) {
  for (const fs::path& device : Entries("/sys/block")) {
    std::string file = ReadFile(device / "loop/backing_file");
    file = file.substr(0, file.find('\n'));
    // Those of other files are other programs', and that of the store stands.
    if (!file.starts_with(std::string(kDataFolder) + "/") || file == kStoreFile) continue;
    state.insert("loop device " + device.filename().string() + " " + file);
  }
}

// Classic quotas, before Linux 6.7, leave the group of a subvolume behind that the kernel has cleared away, and the
// common group of a deleted layer's subvolumes has to stay until then. The next sandbox on the store or `prune` removes
// both.
std::set<os::QuotaGroup> LeftToTheNext(const os::Fd& root, const std::vector<os::QuotaUsage>& groups) {
  constexpr Bytes kSealed = {1};  // the limit of what is deleted
  const auto is_gone = [&](os::QuotaGroup group) {
    const auto exists = os::SubvolumeExists(root, os::SubvolumeId{group.value});
    return exists && !*exists;
  };
  std::set<os::QuotaGroup> left;
  for (const os::QuotaUsage& usage : groups) {
    if (usage.group < os::QuotaGroup::Of(1, 0) || usage.limit != kSealed) continue;
    const auto members = os::GroupMembers(root, usage.group);
    if (!members || !std::all_of(members->begin(), members->end(), is_gone)) continue;
    left.insert(usage.group);
    left.insert(members->begin(), members->end());
  }
  return left;
}

// Of the store that stands mounted, all but the top level of its file system: subvolumes, also those that the kernel is
// still clearing away, and quota groups.
void AddStore(HostState& state) {
  const os::Fd root(open(kStoreMount, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!root.valid() || !os::IsBtrfs(root)) return;
  const auto top = os::SubvolumeOf(root);
  if (!top) return;
  (void)os::SyncFileSystem(root);  // so that the kernel clears now
  if (const auto subvolumes = os::NestedSubvolumes(root, *top)) {
    for (const os::SubvolumeId id : *subvolumes) state.insert("subvolume " + std::to_string(id.value));
  }
  const auto groups = os::ReadQuotaUsage(root, os::QuotaGroup{0}, os::QuotaGroup{~std::uint64_t{0}});
  const auto quotas = os::ReadQuotaState(root);
  if (!groups || !quotas) return;
  std::set<os::QuotaGroup> expected = {os::QuotaGroup::Of(*top)};
  if (quotas->mode == os::QuotaMode::kClassic) expected.merge(LeftToTheNext(root, *groups));
  for (const os::QuotaUsage& usage : *groups) {
    if (expected.contains(usage.group)) continue;
    state.insert("quota group " + std::to_string(usage.group.value));
  }
}

// Those of ordinary users are other programs' of this host.
void AddSystemVObjects(HostState& state) {
  for (const char* kind : {"shm", "msg", "sem"}) {
    std::istringstream lines(ReadFile(std::string("/proc/sysvipc/") + kind));
    std::string line;
    std::getline(lines, line);
    std::istringstream names(line);
    std::vector<std::string> columns;
    for (std::string name; names >> name;) columns.push_back(name);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string id;
      unsigned long owner = 0;
      std::string field;
      for (std::size_t i = 0; fields >> field && i < columns.size(); ++i) {
        if (i == 1) id = field;
        if (columns[i] == "uid") owner = std::strtoul(field.c_str(), nullptr, 10);
      }
      if (owner == 0 || owner >= os::kFirstUid) state.insert(std::string("System V ") + kind + " " + id);
    }
  }
}

void AddNetworkNamespaces(HostState& state) {
  for (const fs::path& name : Entries("/run/netns")) state.insert("network namespace " + name.string());
}

void AddDescriptors(HostState& state) {
  const std::string own = "/proc/" + std::to_string(getpid()) + "/fd";
  for (const fs::path& fd : Entries("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(fd, error);
    // The listing's own is closed by now.
    if (!error && target != own) state.insert("descriptor " + fd.filename().string() + " " + target);
  }
}

// Two levels: what a folder of the data folder holds, and not what sandboxes wrote there. Finished images stay for the
// next sandbox.
void AddFiles(HostState& state) {
  for (const fs::path& folder : Entries(kDataFolder)) {
    const bool stands = std::find(kStanding.begin(), kStanding.end(), folder.filename()) != kStanding.end();
    if (!stands) state.insert("file " + folder.string());
    for (const fs::path& entry : Entries(folder)) {
      const bool finished = folder.filename() == "images" && entry.string().find(".new.") == std::string::npos;
      const bool of_store =
          folder.filename() == "store" && (entry.filename() == "layers" || entry.filename() == "snapshots");
      if (!finished && !of_store) state.insert("file " + entry.string());
    }
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

void AdoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

bool OthersUseCaisson() {
  HostState ignored;
  return AddProcesses(ignored);
}

HostState ReadHostState() {
  HostState state;
  const bool others = AddProcesses(state);
  AddMounts(state);
  AddLoopDevices(state);
  AddSystemVObjects(state);
  AddNetworkNamespaces(state);
  AddDescriptors(state);
  const std::set<std::string> locked = LockedBlocks();
  AddCgroups(state, locked);
  // Neither a lock nor a file tells whose it is.
  if (others) {
    state.insert(kOthers);
    return state;
  }
  for (const std::string& block : locked) state.insert("lock of the uid block " + block);
  AddFiles(state);
  AddStore(state);
  return state;
}

HostState AwaitNothingNew(const HostState& before, std::chrono::milliseconds patience) {
  const Deadline deadline = Deadline::In(patience);
  const HostState first = ReadHostState();
  HostState left;
  std::set_difference(first.begin(), first.end(), before.begin(), before.end(), std::inserter(left, left.end()));
  left.erase(kOthers);
  // What was not looked at before is not new now.
  if (before.contains(kOthers)) {
    std::erase_if(left, [](const std::string& item) {
      return item.starts_with("file ") || item.starts_with("lock ") || item.starts_with("subvolume ") ||
             item.starts_with("quota group ");
    });
  }
  while (!left.empty() && !deadline.Passed()) {
    poll(nullptr, 0, 10);
    const HostState now = ReadHostState();
    std::erase_if(left, [&](const std::string& item) { return !now.contains(item); });
  }
  return left;
}

std::vector<pid_t> ProcessesBelow(pid_t root) {
  const std::map<pid_t, Process> processes = ReadProcesses();
  std::vector<pid_t> all = {root};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& [pid, process] : processes) {
      if (process.parent == all[i]) all.push_back(pid);
    }
  }
  all.erase(all.begin());
  return all;
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
