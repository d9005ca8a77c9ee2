#include "caisson/service/event_feed.h"

#include <atomic>
#include <deque>
#include <utility>

namespace caisson::service {
namespace {

constexpr std::uint32_t kAtOnce = 100;

}  // namespace

class EventFeed::Follower : public EventFollower {
 public:
  Follower(EventFeed& feed, std::uint64_t after) : feed_(feed), after_(after) {
    const std::lock_guard lock(feed_.mutex_);
    feed_.followers_.push_back(this);
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower() override {
    const std::lock_guard lock(feed_.mutex_);
    feed_.followers_.remove(this);
  }

  Result<std::optional<Event>> Next() override {
    if (fetched_.empty()) {
      auto records = feed_.source_.after(after_, kAtOnce);
      if (!records) {
        if (++failures_ < kMostFailures) return std::nullopt;
        return Fail(std::move(records).error().Context("the events cannot be read"));
      }
      failures_ = 0;
      for (state::EventRecord& record : *records) fetched_.push_back(std::move(record));
    }
    if (fetched_.empty()) return std::nullopt;
    state::EventRecord record = std::move(fetched_.front());
    fetched_.pop_front();
    after_ = record.number;
    return std::optional(Event{.number = record.number,
                               .time = record.time,
                               .type = std::move(record.type),
                               .sandbox = std::move(record.sandbox),
                               .command = std::move(record.command),
                               .caller = std::move(record.caller),
                               .detail = std::move(record.detail)});
  }

  void Await(std::function<void()> ready) override {
    {
      const std::lock_guard lock(feed_.mutex_);
      ready_ = std::move(ready);
    }
    // Whoever is called at once would find again that nothing can be read, and again.
    if (failures_ > 0) return;
    // What was recorded before the line above told nobody.
    const auto newest = feed_.source_.newest();
    if (!fetched_.empty() || (newest && *newest > after_)) Call();
  }
  void Cancel() override {
    const std::lock_guard lock(feed_.mutex_);
    ready_ = nullptr;
  }

 private:
  friend class EventFeed;
  void Call() {
    const std::lock_guard lock(feed_.mutex_);
    if (auto now = std::exchange(ready_, nullptr)) now();
  }

  EventFeed& feed_;
  std::uint64_t after_;
  std::deque<state::EventRecord> fetched_;
  std::atomic<int> failures_ = 0;  // in a row
  std::function<void()> ready_;
};

EventFeed::EventFeed(state::Database& database)
    : source_{[&database](std::uint64_t after, std::uint32_t limit) { return database.EventsAfter(after, limit); },
              [&database] { return database.NewestEvent(); }} {}

void EventFeed::TellAgain() {
  const std::lock_guard lock(mutex_);
  for (Follower* const follower : followers_) {
    if (follower->failures_ == 0) continue;
    if (auto now = std::exchange(follower->ready_, nullptr)) now();
  }
}

void EventFeed::Tell() {
  const std::lock_guard lock(mutex_);
  for (Follower* const follower : followers_) {
    if (auto now = std::exchange(follower->ready_, nullptr)) now();
  }
}

std::unique_ptr<EventFollower> EventFeed::Follow(std::uint64_t after) {
  return std::make_unique<Follower>(*this, after);
}

}  // namespace caisson::service
