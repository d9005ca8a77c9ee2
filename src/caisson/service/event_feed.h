#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/service/service.h"
#include "caisson/state/database.h"

namespace caisson::service {

// Tells followers of what is recorded. Thread-safe; outlives its followers.
class EventFeed {
 public:
  // Where events lie: as Database::EventsAfter and NewestEvent.
  struct Source {
    std::function<Result<std::vector<state::EventRecord>>(std::uint64_t after, std::uint32_t limit)> after;
    std::function<Result<std::uint64_t>()> newest;
  };
  // How often in a row a follower may find that nothing can be read, before it says so.
  static constexpr int kMostFailures = 10;

  explicit EventFeed(state::Database& database);
  explicit EventFeed(Source source) : source_(std::move(source)) {}
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;
  ~EventFeed() = default;

  // An event was recorded.
  void Tell();
  // Lets those try again that could not read. To be called now and then: nobody tries in between.
  void TellAgain();
  std::unique_ptr<EventFollower> Follow(std::uint64_t after);

 private:
  class Follower;
  Source source_;
  std::mutex mutex_;
  std::list<Follower*> followers_;
};

}  // namespace caisson::service
