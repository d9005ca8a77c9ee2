#include "caisson/service/event_feed.h"

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

  std::optional<Event> Next() override {
    if (fetched_.empty()) {
      auto records = feed_.database_.EventsAfter(after_, kAtOnce);
      if (!records) return std::nullopt;
      for (state::EventRecord& record : *records) fetched_.push_back(std::move(record));
    }
    if (fetched_.empty()) return std::nullopt;
    state::EventRecord record = std::move(fetched_.front());
    fetched_.pop_front();
    after_ = record.number;
    return Event{.number = record.number,
                 .time = record.time,
                 .type = std::move(record.type),
                 .sandbox = std::move(record.sandbox),
                 .command = std::move(record.command),
                 .caller = std::move(record.caller),
                 .detail = std::move(record.detail)};
  }

  void Await(std::function<void()> ready) override {
    {
      const std::lock_guard lock(feed_.mutex_);
      ready_ = std::move(ready);
    }
    // What was recorded before the line above told nobody.
    const auto newest = feed_.database_.NewestEvent();
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
  std::function<void()> ready_;
};

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
