#include <fcntl.h>
#include <sys/mount.h>

#include <cerrno>
#include <optional>
#include <sstream>

#include "caisson/os/cgroup.h"
#include "caisson/os/cgroup_mounts.h"
#include "caisson/os/mount.h"

namespace caisson::os {

namespace {

// Whether a text begins with a backslash and three octal digits.
bool IsEscape(std::string_view text) {
  return text.size() >= 4 && text[0] == '\\' && text[1] >= '0' && text[1] <= '3' &&
         text.substr(2, 2).find_first_not_of("01234567") == std::string_view::npos;
}

// The kernel writes space, tab, newline and backslash as three octal digits after a backslash.
std::string Unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (!IsEscape(text)) {
      plain.push_back(text[0]);
      text.remove_prefix(1);
      continue;
    }
    plain.push_back(static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0')));
    text.remove_prefix(4);
  }
  return plain;
}

// The `index`-th of the words that one space parts, which alone the kernel escapes in all of them; empty: none.
std::string_view WordAt(std::string_view line, int index) {
  for (; index > 0; --index) line = line.find(' ') == line.npos ? "" : line.substr(line.find(' ') + 1);
  return line.substr(0, line.find(' '));
}

}  // namespace

CgroupMounts ParseCgroupMounts(std::string_view mountinfo) {
  CgroupMounts mounts;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    // "36 35 98:0 / /mount/point rw,relatime shared:1 - type source options"
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::string point = Unescape(WordAt(std::string_view(line).substr(0, dash), 4));
    if (point.empty()) continue;  // no line of the kernel's
    const std::string_view right = std::string_view(line).substr(dash + 3);
    const std::string_view type = WordAt(right, 0);
    // The last word: a source can be empty.
    const std::string options = "," + std::string(right.substr(right.rfind(' ') + 1)) + ",";
    if (type == "cgroup2" && !mounts.unified) mounts.unified = point;
    if (type != "cgroup") continue;
    const auto has = [&](const char* name) { return options.find("," + std::string(name) + ",") != std::string::npos; };
    if (has("memory") && !mounts.memory) mounts.memory = point;
    if (has("cpu") && !mounts.cpu) mounts.cpu = point;
    if (has("pids") && !mounts.pids) mounts.pids = point;
  }
  return mounts;
}

namespace {

Result<Fd> OpenRoot(const std::string& path) {
  Fd root(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return Fail(Error::FromErrno(errno, "cannot open the cgroup root " + path));
  return root;
}

Error LacksController(const char* name) {
  return Error(Code::kUnsupported, std::string("the cgroup controller ") + name + " is missing")
      .Because("it is mounted neither as cgroup v1 nor offered by cgroup2")
      .Remedy("boot with the controller enabled, for example without cgroup_disable=" + std::string(name));
}

Status RequireUnifiedControllers(const Fd& root) {
  const Fd file(openat(root.get(), "cgroup.controllers", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot read cgroup.controllers"));
  CAISSON_TRY(std::string text, ReadAll(file.get(), 4096));
  for (char& c : text) c = c == '\n' ? ' ' : c;
  text = " " + text + " ";
  for (const char* name : {"memory", "cpu", "pids"}) {
    if (text.find(" " + std::string(name) + " ") == std::string::npos) return Fail(LacksController(name));
  }
  return {};
}

}  // namespace

Result<Cgroup> Cgroup::Roots() {
  const Fd file(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot read /proc/self/mountinfo"));
  CAISSON_TRY(const std::string text, ReadAll(file.get(), 4U << 20U));
  const CgroupMounts mounts = ParseCgroupMounts(text);

  std::vector<Fd> directories;
  if (mounts.unified) {
    CAISSON_TRY(Fd unified, OpenRoot(*mounts.unified));
    directories.push_back(std::move(unified));
  } else {
    CAISSON_TRY(FileSystem cgroup2, FileSystem::Open("cgroup2"));
    CAISSON_TRY(DetachedMount unified, cgroup2.Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
    directories.push_back(std::move(unified));
  }
  if (!mounts.memory && !mounts.cpu && !mounts.pids) {
    CAISSON_CHECK_OK(RequireUnifiedControllers(directories[0]));
    return Cgroup(CgroupMode::kUnified, std::move(directories));
  }
  const std::pair<const std::optional<std::string>&, const char*> wanted[] = {
      {mounts.memory, "memory"}, {mounts.cpu, "cpu"}, {mounts.pids, "pids"}};
  for (const auto& [path, name] : wanted) {
    if (!path) return Fail(LacksController(name));
    // One hierarchy under two names would make every cgroup twice.
    const bool shared = (path == mounts.memory) + (path == mounts.cpu) + (path == mounts.pids) > 1;
    if (shared) {
      return Fail(Error(Code::kUnsupported, std::string("the cgroup controller ") + name + " shares a hierarchy")
                      .Remedy("mount memory, cpu and pids apart, or boot with cgroup2 only"));
    }
    CAISSON_TRY(Fd root, OpenRoot(*path));
    directories.push_back(std::move(root));
  }
  return Cgroup(CgroupMode::kHybrid, std::move(directories));
}

}  // namespace caisson::os
