#include "caisson/service/running_command.h"

#include <utility>

namespace caisson::service {

void RunningCommand::Set(std::unique_ptr<sandbox::SpooledCommand> command) {
  const std::lock_guard lock(mutex_);
  command_ = std::move(command);
}

sandbox::SpooledCommand* RunningCommand::command() const {
  const std::lock_guard lock(mutex_);
  return command_.get();
}

std::optional<sandbox::DecisionNote> RunningCommand::DecisionOf(const sandbox::Outcome& outcome,
                                                                policy::Time now) const {
  const std::lock_guard lock(mutex_);
  const bool was_stopped = terms_.stop && now >= terms_.stop->at && std::holds_alternative<sandbox::Cancelled>(outcome);
  return was_stopped ? terms_.stop->note : terms_.decision;
}

void RunningCommand::SetStop(const guard::Stop& stop) {
  const std::lock_guard lock(mutex_);
  if (terms_.decision && (!terms_.stop || stop.at < terms_.stop->at)) terms_.stop = stop;
}

void RunningCommand::StopWhenDue(policy::Time now) {
  const std::lock_guard lock(mutex_);
  if (terms_.stop && now >= terms_.stop->at && !ended_ && command_ != nullptr) command_->Cancel();
}

void RunningCommand::Conclude(std::function<bool()> record) {
  {
    const std::lock_guard lock(record_mutex_);
    record_ = std::move(record);
  }
  TryToRecord();
}

bool RunningCommand::TryToRecord() {
  {
    const std::lock_guard lock(record_mutex_);
    if (!record_) return true;
    if (!record_()) return false;
    record_ = nullptr;
  }
  End();
  return true;
}

bool RunningCommand::AwaitRecorded() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || left_; });
  return ended_;
}

void RunningCommand::Leave() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
  }
  changed_.notify_all();
}

void RunningCommand::End() {
  std::vector<std::function<void()>> waiters;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    seats_.clear();
    waiters = std::exchange(waiters_, {});
  }
  changed_.notify_all();
  for (const auto& waiter : waiters) waiter();
}

bool RunningCommand::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool RunningCommand::AwaitEnd(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return ended_; });
}

void RunningCommand::OnEnd(std::function<void()> ended) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      waiters_.push_back(std::move(ended));
      return;
    }
  }
  ended();
}

}  // namespace caisson::service
