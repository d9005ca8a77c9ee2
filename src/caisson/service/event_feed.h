#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "caisson/base/result.h"
#include "caisson/service/service.h"
#include "caisson/state/database.h"

namespace caisson::service {

// Tells followers of what is recorded. Thread-safe; outlives its followers.
class EventFeed {
 public:
  explicit EventFeed(state::Database& database) : database_(database) {}
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;
  ~EventFeed() = default;

  // An event was recorded.
  void Tell();
  std::unique_ptr<EventFollower> Follow(std::uint64_t after);

 private:
  class Follower;
  state::Database& database_;
  std::mutex mutex_;
  std::list<Follower*> followers_;
};

}  // namespace caisson::service
