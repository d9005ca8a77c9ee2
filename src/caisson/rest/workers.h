#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::rest {

// Threads for calls that block, and a bounded queue in front of them. Calls of one key, a sandbox, have only some of
// the threads at once and only some of the queue, so that a stuck sandbox leaves room for the others. Thread-safe.
// Destroying it waits for calls that run; those that wait are forgotten.
class Workers {
 public:
  struct Limits {
    std::uint32_t threads = 1;
    std::uint32_t waiting = 0;         // calls in the queue
    std::uint32_t threads_of_one = 1;  // threads that one key has
    std::uint32_t waiting_of_one = 0;  // calls of one key in the queue
  };
  using Ticket = std::uint64_t;

  explicit Workers(Limits limits);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  // `work` runs on some thread, in the order of its key. An empty key has no limit of its own.
  // Errors: kUnavailable with the detail `retry_after_ms` when there is no room, at once.
  Result<Ticket> Submit(std::string key, std::function<void()> work);
  // True: it had not begun and never will. False: it runs, or is done.
  bool Withdraw(Ticket ticket);

 private:
  struct Call {
    Ticket ticket = 0;
    std::string key;
    std::function<void()> work;
  };
  struct Use {
    std::uint32_t running = 0;
    std::uint32_t waiting = 0;
  };
  void RunCalls();
  std::list<Call>::iterator FindCall();
  void Leave(const std::string& key, std::uint32_t Use::* count);

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Call> queue_;
  std::map<std::string, Use> uses_;
  std::uint32_t free_ = 0;
  Ticket last_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace caisson::rest
