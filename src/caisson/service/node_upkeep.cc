// The part of NodeService that looks after what nobody asks for: time-outs, ends, what is old.

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <utility>

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
    RecordChanges();
    events_.TellAgain();
    JoinAttended();
    // What fails now is tried again, and by a commit.
    (void)node_.database.ShortenLog();
    if (Clock::now() < forget_at) continue;
    forget_at = Clock::now() + kForgetEvery;
    ForgetOld();
    if (spools_.Trim(node_.limits.spools) == SpoolTrim::Done::kNo) forget_at = Clock::now();
  }
  for (auto& [id, thread] : attending_) thread.join();
}

// Beside the others: one that does not end delays none of them.
void NodeService::Attend(const std::shared_ptr<SandboxOwner>& owner, SandboxOwner::Care care) {
  const std::lock_guard lock(attending_mutex_);
  if (attending_.size() >= kMostAttended || attending_.contains(owner->id())) return;
  attending_.emplace(owner->id(), std::thread([this, owner, care = std::move(care)] {
                       if (care.need == Care::Need::kSettle) owner->Settle();
                       const bool is_over =
                           (care.need == Care::Need::kStop && owner->Stop(care.reason, kDaemon)) ||
                           (care.need == Care::Need::kEnd && owner->End(care.to, care.reason, kDaemon));
                       if (is_over) Forget(*owner);
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

}  // namespace caisson::service
