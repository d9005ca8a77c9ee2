#include "caisson/rest/workers.h"

#include <algorithm>
#include <utility>

namespace caisson::rest {
namespace {

Error NoRoom(const char* cause) {
  return Error(Code::kUnavailable, "the node is busy")
      .Because(cause)
      .Remedy("try again in a moment")
      .Detail("retry_after_ms", "1000")
      .Retryable();
}

}  // namespace

Workers::Workers(Limits limits) : limits_(limits), free_(limits.threads) {
  for (std::uint32_t i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { RunCalls(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Result<Workers::Ticket> Workers::Submit(std::string key, std::function<void()> work) {
  std::unique_lock lock(mutex_);
  const auto known = uses_.find(key);
  const Use use = known == uses_.end() ? Use{} : known->second;
  const bool has_thread = free_ > queue_.size() && (key.empty() || use.running + use.waiting < limits_.threads_of_one);
  if (!has_thread && queue_.size() >= limits_.waiting + free_) return Fail(NoRoom("too many calls wait"));
  if (!has_thread && !key.empty() && use.waiting >= limits_.waiting_of_one) {
    return Fail(NoRoom("too many calls wait for this sandbox"));
  }
  ++uses_[key].waiting;
  const Ticket ticket = ++last_;
  queue_.push_back({ticket, std::move(key), std::move(work)});
  lock.unlock();
  changed_.notify_one();
  return ticket;
}

bool Workers::Withdraw(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto call = std::find_if(queue_.begin(), queue_.end(), [&](const Call& one) { return one.ticket == ticket; });
  if (call == queue_.end()) return false;
  Leave(call->key, &Use::waiting);
  queue_.erase(call);
  return true;
}

void Workers::Leave(const std::string& key, std::uint32_t Use::* count) {
  const auto use = uses_.find(key);
  --(use->second.*count);
  if (use->second.running == 0 && use->second.waiting == 0) uses_.erase(use);
}

std::list<Workers::Call>::iterator Workers::FindCall() {
  return std::find_if(queue_.begin(), queue_.end(), [&](const Call& call) {
    return call.key.empty() || uses_[call.key].running < limits_.threads_of_one;
  });
}

void Workers::RunCalls() {
  std::unique_lock lock(mutex_);
  while (true) {
    auto next = queue_.end();
    changed_.wait(lock, [&] { return ending_ || (next = FindCall()) != queue_.end(); });
    if (ending_) return;
    Call call = std::move(*next);
    queue_.erase(next);
    Use& use = uses_[call.key];
    --use.waiting;
    ++use.running;
    --free_;
    lock.unlock();
    call.work();
    call.work = nullptr;
    lock.lock();
    ++free_;
    Leave(call.key, &Use::running);
    // The end of one call lets at most one that waits begin: this thread looks for it, and nobody is woken.
  }
}

}  // namespace caisson::rest
