#pragma once

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "caisson/rest/access.h"
#include "caisson/rest/limits.h"
#include "caisson/rest/router.h"
#include "caisson/rest/workers.h"

namespace caisson::rest {

class Connection;
using Socket = boost::asio::generic::stream_protocol::socket;

// How other threads reach the thread of connections, also when that has ended: then nothing happens.
class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& io) : io_(&io) {}
  void Post(std::function<void()> what) {
    const std::lock_guard lock(mutex_);
    if (io_ != nullptr) boost::asio::post(*io_, std::move(what));
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    io_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

// What all connections of one server share. Used on their thread only, but for `io`, the workers and the mailbox.
struct Core {
  Core(const ServerLimits& the_limits, const Node& the_node, std::vector<ApiKey> the_keys)
      : limits(the_limits),
        node(the_node),
        keys(std::move(the_keys)),
        mailbox(std::make_shared<Mailbox>(io)),
        calls({limits.workers, limits.waiting, limits.workers_of_one, limits.waiting_of_one}),
        follow_ups({limits.followers, 2 * limits.connections, (limits.followers + 3) / 4, 2 * limits.connections}) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() { mailbox->Close(); }

  boost::asio::io_context io{1};
  const ServerLimits limits;
  const Node node;
  const std::vector<ApiKey> keys;
  const std::shared_ptr<Mailbox> mailbox;  // callbacks of the service keep it

  std::set<Connection*> connections;
  std::list<Connection*> idle;  // the longest first
  std::uint64_t body_bytes = 0;
  bool stopping = false;
  std::uint32_t refusing = 0;  // connections over the limit that are being told so
  std::atomic<std::uint32_t> count{0};
  boost::asio::steady_timer stop_timer{io};

  Workers calls;       // of new requests: with room for some
  Workers follow_ups;  // of requests that were let in: with room for all
};

// What one request has of the memory for bodies.
class BodyShare {
 public:
  explicit BodyShare(Core& core) : core_(core) {}
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;
  ~BodyShare() { Release(); }

  // False when there is not so much.
  bool Grow(std::uint64_t bytes) {
    if (bytes <= taken_) return true;
    if (core_.body_bytes + (bytes - taken_) > core_.limits.all_bodies.value) return false;
    core_.body_bytes += bytes - taken_;
    taken_ = bytes;
    return true;
  }
  void Release() { core_.body_bytes -= std::exchange(taken_, 0); }

 private:
  Core& core_;
  std::uint64_t taken_ = 0;
};

}  // namespace caisson::rest
