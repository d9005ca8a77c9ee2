#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <set>

#include "caisson/os/cgroup.h"
#include "caisson/os/folder_lock.h"

// Which cgroups below one have a living owner. The lock lies on the cgroup2 directory, whose inode is one for the whole
// host: it shows whatever mounts and lock files its owner sees.

namespace caisson::os {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

void AddNames(const Fd& directory, std::set<std::string>& names) {
  const int again = openat(directory.get(), ".", kDirectory);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again < 0 ? nullptr : fdopendir(again), closedir);
  if (listing == nullptr) return;
  while (const dirent* entry = readdir(listing.get())) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.insert(entry->d_name);
  }
}

bool HoldsProcesses(const Fd& child) {
  const Fd state(openat(child.get(), "cgroup.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const Result<std::string> text = state.valid() ? ReadAll(state.get(), 4096) : std::string();
  // A cgroup on its way out cannot be read any more, and holds nothing.
  return text && IsPopulated(*text);
}

}  // namespace

Result<std::optional<Cgroup>> Cgroup::FindChild(const std::string& name) const {
  std::vector<Fd> children;
  bool found = false;
  for (const Fd& directory : directories_) {
    children.emplace_back(openat(directory.get(), name.c_str(), kDirectory));
    if (!children.back().valid() && errno != ENOENT) {
      return Fail(Error::FromErrno(errno, "cannot open the cgroup " + name));
    }
    found = found || children.back().valid();
  }
  if (!found) return std::nullopt;
  return Cgroup(mode_, std::move(children));
}

bool Cgroup::TryRemove(const std::string& name) const {
  bool gone = true;
  for (const Fd& directory : directories_) {
    const Fd child(openat(directory.get(), name.c_str(), kDirectory));
    if (!child.valid()) continue;
    RemoveBelow(child.get());
    gone = (unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) && gone;
  }
  return gone;
}

Result<Cgroup> Cgroup::MakeOwnedChild(const std::string& name) const {
  // Shared here, exclusive while owners are looked for, so that nobody sees a child between its making and its locking.
  CAISSON_TRY(const Fd parent, LockFolder(directories_[0], LOCK_SH));
  const auto taken = [&] { return Fail(Error(Code::kAlreadyExists, "the cgroup " + name + " is in use")); };
  const auto failed = [&] { return Fail(Error::FromErrno(errno, "cannot make the cgroup " + name)); };
  if (mkdirat(unified(), name.c_str(), 0755) != 0) {
    if (errno != EEXIST) return failed();
    const Fd left = TryOwnFolder(directories_[0], name);
    if (!left.valid() || HoldsProcesses(left) || !TryRemove(name)) return taken();
    if (mkdirat(unified(), name.c_str(), 0755) != 0) return errno == EEXIST ? taken() : failed();
  }
  std::vector<Fd> children;
  children.push_back(TryOwnFolder(directories_[0], name));
  if (!children.back().valid()) return taken();
  for (std::size_t i = 1; i < directories_.size(); ++i) {
    const int directory = directories_[i].get();
    if (mkdirat(directory, name.c_str(), 0755) != 0) {
      if (errno != EEXIST) return failed();
      // Without its cgroup2 directory it was a left-over.
      if (const Fd left(openat(directory, name.c_str(), kDirectory)); left.valid()) RemoveBelow(left.get());
      if (unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno == EBUSY) return taken();
      if (mkdirat(directory, name.c_str(), 0755) != 0) return failed();
    }
    children.emplace_back(openat(directory, name.c_str(), kDirectory));
    if (!children.back().valid()) return failed();
  }
  return Cgroup(mode_, std::move(children));
}

Result<std::vector<Cgroup::Child>> Cgroup::Children() const {
  std::optional<Fd> lock;
  if (directories_[0].valid()) {
    CAISSON_TRY(lock, LockFolder(directories_[0], LOCK_EX));
  }
  std::set<std::string> names;
  for (const Fd& directory : directories_) AddNames(directory, names);
  std::vector<Child> children;
  for (const std::string& name : names) {
    const Fd directory(openat(unified(), name.c_str(), kDirectory));
    const bool owned = directory.valid() && !TryOwnFolder(directories_[0], name).valid();
    children.push_back({name, owned ? Ownership::kOwned : Ownership::kNone});
  }
  return children;
}

Result<bool> Cgroup::RemoveUnownedChild(const std::string& name, const Deadline& deadline) const {
  Fd own;
  if (directories_[0].valid()) {
    CAISSON_TRY(const Fd parent, LockFolder(directories_[0], LOCK_EX));
    const Fd child(openat(unified(), name.c_str(), kDirectory));
    own = TryOwnFolder(directories_[0], name);
    if (child.valid() && !own.valid()) return false;
  }
  // Locked, it is made by nobody else meanwhile. What a dead owner left alive has been killed by the kernel.
  while (own.valid() && HoldsProcesses(own)) {
    if (deadline.Passed()) return false;
    poll(nullptr, 0, 1);
  }
  while (!TryRemove(name)) {
    if (deadline.Passed()) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace caisson::os
