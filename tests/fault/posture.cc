#include "fault/posture.h"

#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "caisson/os/identity.h"
#include "support/host_state.h"
#include "support/temp_folder.h"

namespace caisson::fault {
namespace {

namespace fs = std::filesystem;
using support::ReadFile;

std::string ProcPath(pid_t pid, const std::string& name) { return "/proc/" + std::to_string(pid) + "/" + name; }

std::string Link(const fs::path& path) {
  std::error_code error;
  return fs::read_symlink(path, error).string();
}

// Ids of the host differ from run to run, but not their place in the block.
std::string IdsInBlock(const std::string& ids) {
  constexpr unsigned long kFirst = os::kFirstUid;
  constexpr unsigned long kBlock = os::kUidsPerBlock;
  std::istringstream numbers(ids);
  std::string text;
  for (unsigned long id = 0; numbers >> id;) {
    text +=
        " " + (id < kFirst + kBlock ? "HOST:" + std::to_string(id) : "block+" + std::to_string((id - kFirst) % kBlock));
  }
  return text;
}

void AddStatus(pid_t pid, const char* who, std::string& text) {
  const std::string status = ReadFile(ProcPath(pid, "status"));
  for (const char* name : {"Uid", "Gid", "Groups"}) {
    text += std::string(who) + " " + name + IdsInBlock(support::StatusField(status, name)) + "\n";
  }
  for (const char* name : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters",
                           "SigBlk", "SigIgn", "Umask"}) {
    text += std::string(who) + " " + name + " " + support::StatusField(status, name) + "\n";
  }
  std::istringstream map(ReadFile(ProcPath(pid, "uid_map")) + ReadFile(ProcPath(pid, "gid_map")));
  for (unsigned long inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;) {
    text += std::string(who) + " map " + std::to_string(inside) + IdsInBlock(std::to_string(outside)) + " " +
            std::to_string(count) + "\n";
  }
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    const bool is_own = Link(ProcPath(pid, "ns/" + std::string(name))) != Link("/proc/self/ns/" + std::string(name));
    text += std::string(who) + " namespace " + name + (is_own ? " of its own\n" : " OF THE HOST\n");
  }
}

// "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [PROPAGATION...] - TYPE SOURCE SUPER": what does not differ from run to
// run.
void AddMounts(pid_t pid, std::string& text) {
  std::istringstream lines(ReadFile(ProcPath(pid, "mountinfo")));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, point, options, next;
    fields >> id >> parent >> device >> root >> point >> options;
    text += "mount " + point + " " + options;
    while (fields >> next && next != "-") text += " " + next;
    fields >> next;
    text += " " + next + "\n";
  }
}

void AddDescriptors(pid_t pid, std::string& text) {
  std::error_code error;
  std::set<std::string> lines;
  for (const auto& entry : fs::directory_iterator(ProcPath(pid, "fd"), error)) {
    std::string target = Link(entry.path());
    target.resize(std::min(target.size(), target.find(':')));
    lines.insert("descriptor " + entry.path().filename().string() + " " + target + "\n");
  }
  for (const std::string& line : lines) text += line;
}

void AddCgroups(pid_t pid, std::string& text) {
  const std::string all = ReadFile(ProcPath(pid, "cgroup"));
  const std::regex slot("/caisson/(s[0-9]+)");
  std::smatch found;
  if (!std::regex_search(all, found, slot)) {
    text += "NO CGROUP\n";
    return;
  }
  const std::string name = found[1];
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    // Of the hierarchies that Caisson does not use, it says only where this test is.
    if (line.find("/caisson/") == std::string::npos) continue;
    line = line.substr(line.find(':') + 1);
    text += "cgroup " + std::regex_replace(line, slot, "/caisson/sN") + "\n";
  }
  for (const std::string& folder : support::CgroupFolders()) {
    for (const char* knob : {"memory.max", "memory.swap.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes",
                             "pids.max", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"}) {
      for (const std::string& group : {name, name + "/c1"}) {
        const std::string value = ReadFile(folder + "/" + group + "/" + knob);
        if (!value.empty()) text += "limit " + group.substr(name.size()) + " " + knob + " " + value;
      }
    }
  }
}

// Of one that ends, field after field is gone.
bool Ends(pid_t pid) { return support::StatusField(ReadFile(ProcPath(pid, "status")), "Umask").empty(); }

}  // namespace

std::optional<std::string> ReadPosture(pid_t command, pid_t guest) {
  std::string text;
  AddStatus(command, "command", text);
  AddStatus(guest, "guest", text);
  AddMounts(command, text);
  AddDescriptors(command, text);
  AddCgroups(command, text);
  text += ReadFile(ProcPath(command, "limits"));
  if (Ends(command) || Ends(guest)) return std::nullopt;
  return text;
}

}  // namespace caisson::fault
