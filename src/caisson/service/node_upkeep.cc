// The part of NodeService that looks after what nobody asks for: time-outs, ends, what is old.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "caisson/sandbox/command_output.h"
#include "caisson/service/node_service.h"

namespace caisson::service {
namespace {

using sandbox::Lifecycle;
using Care = SandboxOwner::Care;
using Clock = std::chrono::steady_clock;

constexpr int kLookEveryMs = 500;
constexpr std::chrono::seconds kForgetEvery{60};
// Sandboxes that are ended, or brought to rest, at the same time.
constexpr std::size_t kMostAttended = 16;

struct SpoolEntry {
  std::string command;
  std::int64_t modified = 0;
  std::uint64_t bytes = 0;
};

// Both files of each command are one entry.
std::map<std::string, SpoolEntry> ReadSpools(int directory) {
  std::map<std::string, SpoolEntry> spools;
  const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fd < 0 ? nullptr : fdopendir(fd), closedir);
  if (listing == nullptr) return spools;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    struct stat info{};
    if (!name.starts_with("cm_") || fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    SpoolEntry& spool = spools[std::string(name.substr(0, name.find('.')))];
    spool.command = std::string(name.substr(0, name.find('.')));
    spool.modified = std::max<std::int64_t>(spool.modified, info.st_mtim.tv_sec);
    constexpr std::uint64_t kBlock = 512;
    spool.bytes += static_cast<std::uint64_t>(info.st_blocks) * kBlock;
  }
  return spools;
}

}  // namespace

void NodeService::Watch() {
  Clock::time_point forget_at = Clock::now();
  while (!leaving_) {
    // What has been seen would be seen again at once, and again.
    const auto owners = is_lost_ ? std::vector<std::shared_ptr<SandboxOwner>>() : Owners();
    std::vector<pollfd> entries = {{wake_.get(), POLLIN, 0}, {is_lost_ ? -1 : node_.sandboxes.launcher_fd(), 0, 0}};
    for (const auto& owner : owners) entries.push_back({owner->is_ending() ? -1 : owner->ended_fd(), POLLIN, 0});
    (void)poll(entries.data(), entries.size(), kLookEveryMs);
    if (leaving_) break;
    if (entries[1].revents != 0 && !is_lost_.exchange(true)) lost_();
    if (is_lost_) continue;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (entries[i + 2].revents != 0) {
        Attend(owners[i], {Care::Need::kEnd, Lifecycle::kFailed, "its first process has ended"});
      } else if (Care care = owners[i]->LookAfter(Clock::now()); care.need != Care::Need::kNothing) {
        Attend(owners[i], std::move(care));
      }
    }
    RecordNotMade();
    JoinAttended();
    if (Clock::now() < forget_at) continue;
    forget_at = Clock::now() + kForgetEvery;
    ForgetOld();
    TrimSpools();
  }
  for (auto& [id, thread] : attending_) thread.join();
}

// Beside the others: one that does not end delays none of them.
void NodeService::Attend(const std::shared_ptr<SandboxOwner>& owner, SandboxOwner::Care care) {
  const std::lock_guard lock(attending_mutex_);
  if (attending_.size() >= kMostAttended || attending_.contains(owner->id())) return;
  attending_.emplace(owner->id(), std::thread([this, owner, care = std::move(care)] {
                       if (care.need == Care::Need::kSettle) {
                         owner->Settle();
                       } else if (owner->End(care.to, care.reason, kDaemon)) {
                         Forget(owner->id());
                       }
                       const std::lock_guard done(attending_mutex_);
                       attended_.push_back(owner->id());
                     }));
}

void NodeService::JoinAttended() {
  std::vector<std::thread> done;
  {
    const std::lock_guard lock(attending_mutex_);
    for (const SandboxId& id : attended_) {
      done.push_back(std::move(attending_.at(id)));
      attending_.erase(id);
    }
    attended_.clear();
  }
  for (std::thread& thread : done) thread.join();
}

void NodeService::ForgetOld() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const UnixMs now = Now();
  (void)node_.database.ForgetEndedCommands({.ended_before = now - milliseconds(node_.limits.keep_commands).count(),
                                            .keep_newest = node_.limits.keep_newest_commands});
  (void)node_.database.ForgetDeletedSandboxes({.ended_before = now - milliseconds(node_.limits.keep_deleted).count(),
                                               .keep_newest = node_.limits.keep_newest_commands});
  (void)node_.database.ForgetIdempotencyKeys(now - milliseconds(node_.limits.keep_commands).count());
}

// Output of commands that are forgotten goes, and while it is too much, that of those which ended first.
void NodeService::TrimSpools() {
  const int directory = node_.sandboxes.spool_directory();
  std::vector<SpoolEntry> ended;
  std::uint64_t bytes = 0;
  for (auto& [id, spool] : ReadSpools(directory)) {
    const auto record = node_.database.GetCommand(id);
    if (!record && record.error().code() == Code::kNotFound) {
      sandbox::CommandOutput::Remove(directory, id);
      continue;
    }
    if (!record || record->state != state::CommandState::kEnded) continue;
    bytes += spool.bytes;
    ended.push_back(std::move(spool));
  }
  std::ranges::sort(ended, {}, &SpoolEntry::modified);
  for (const SpoolEntry& spool : ended) {
    if (bytes <= node_.limits.spools.value) return;
    sandbox::CommandOutput::Remove(directory, spool.command);
    bytes -= spool.bytes;
  }
}

}  // namespace caisson::service
