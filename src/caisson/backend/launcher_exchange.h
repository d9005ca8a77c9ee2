#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/os/socket.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::backend {

// Requests to the launcher and its answers, any number at once: an answer is known by the number of its request, and
// whoever waits reads for all who do. Thread-safe.
class LauncherExchange {
 public:
  explicit LauncherExchange(os::Fd connection) : connection_(std::move(connection)) {}
  LauncherExchange(const LauncherExchange&) = delete;
  LauncherExchange& operator=(const LauncherExchange&) = delete;
  ~LauncherExchange() = default;

  struct Answer {
    plan::LaunchReply reply;
    std::vector<os::Fd> fds;
  };
  // Errors: what the launcher says (ExplainFailure); kUnavailable when it is gone; kInternal for an answer that is
  // none; kDeadlineExceeded. A sandbox that was made for somebody who waits no longer is given back.
  Result<Answer> Ask(plan::LaunchRequest request, const std::vector<int>& fds, const Deadline& deadline);
  // A request without an answer. Blocks while the launcher takes none.
  Status Tell(const plan::LaunchRequest& request, const std::vector<int>& fds);

  // Hangs up when the launcher has ended. Borrowed.
  int connection() const { return connection_.get(); }
  // Nobody may ask any more.
  void Close() { connection_.Reset(); }

 private:
  // Somebody who asked. Lives on the stack of who waits.
  struct Waiter {
    std::condition_variable changed;
    std::optional<Result<Answer>> answer;
  };

  Status Send(const plan::LaunchRequest& request, const std::vector<int>& fds, const Deadline& deadline);
  Status SendInTurn(const plan::LaunchRequest& request, const std::vector<int>& fds, const Deadline& deadline);
  // Until the launcher takes a request; reads meanwhile, since it may be waiting for that.
  void AwaitRoom(const Deadline& deadline);
  Result<Answer> Await(const plan::LaunchRequest& request, Waiter& own, const Deadline& deadline);
  void GiveBackUnclaimed();

  // Reads one answer for whoever it is for, without the lock meanwhile. Nobody else may be reading.
  void ReadOne(std::unique_lock<std::mutex>& lock, const Deadline& deadline);

  // With mutex_ held:
  void Distribute(Result<os::Message> message);
  void Deliver(Answer answer);
  void FailAll(const Error& error);
  // Somebody else reads from now on.
  void HandOverReading();

  os::Fd connection_;
  std::mutex mutex_;         // what follows
  bool is_sending_ = false;  // somebody is: one request at a time
  std::condition_variable sent_;
  std::uint64_t requests_ = 0;
  std::map<std::uint64_t, Waiter*> waiters_;  // by the number of the request
  bool is_reading_ = false;                   // somebody is
  std::set<std::uint64_t> given_up_;          // requests for a sandbox that nobody waits for any more
  std::vector<std::uint32_t> unclaimed_;      // what came of them
};

}  // namespace caisson::backend
