#include "caisson/backend/launcher_exchange.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "caisson/backend/launch_error.h"

namespace caisson::backend {
namespace {

// How often somebody who cannot send looks whether he is to read.
constexpr std::chrono::milliseconds kLookAgain{50};

std::string_view BytesOf(const plan::LaunchRequest& request) {
  return {reinterpret_cast<const char*>(&request), sizeof request};
}

}  // namespace

Result<LauncherExchange::Answer> LauncherExchange::Ask(plan::LaunchRequest request, const std::vector<int>& fds,
                                                       const Deadline& deadline) {
  const auto gone = [](Error error) { return Fail(std::move(error).Context("the launcher")); };
  Waiter own;
  {
    const std::lock_guard lock(mutex_);
    request.number = ++requests_;
    waiters_.emplace(request.number, &own);
  }
  const Status sent = Send(request, fds, deadline);
  // A launcher that could not start has said why before it closed the connection: read that first.
  const bool may_have_said = sent || sent.error().code() == Code::kUnavailable;
  Result<Answer> answer = Await(request, own, may_have_said ? deadline : Deadline::In({}));
  GiveBackUnclaimed();
  if (!answer) return gone(sent ? std::move(answer).error() : sent.error());
  if (answer->reply.failed_step != plan::Step::kNone) return Fail(ExplainFailure(answer->reply));
  return answer;
}

Status LauncherExchange::Tell(const plan::LaunchRequest& request, const std::vector<int>& fds) {
  Status sent = Send(request, fds, Deadline(Deadline::Clock::time_point::max()));
  GiveBackUnclaimed();
  return sent;
}

Status LauncherExchange::Send(const plan::LaunchRequest& request, const std::vector<int>& fds,
                              const Deadline& deadline) {
  {
    std::unique_lock lock(mutex_);
    if (!sent_.wait_until(lock, deadline.at(), [this] { return !is_sending_; })) {
      return Fail(Error(Code::kDeadlineExceeded, "is busy"));
    }
    is_sending_ = true;
  }
  Status sent = SendInTurn(request, fds, deadline);
  {
    const std::lock_guard lock(mutex_);
    is_sending_ = false;
  }
  sent_.notify_one();
  return sent;
}

Status LauncherExchange::SendInTurn(const plan::LaunchRequest& request, const std::vector<int>& fds,
                                    const Deadline& deadline) {
  while (true) {
    CAISSON_TRY(const bool is_sent, os::TrySendPacket(connection_.get(), BytesOf(request), fds));
    if (is_sent) return {};
    if (deadline.Passed()) return Fail(Error(Code::kDeadlineExceeded, "is busy"));
    AwaitRoom(deadline);
  }
}

void LauncherExchange::AwaitRoom(const Deadline& deadline) {
  pollfd entry{connection_.get(), POLLOUT, 0};
  {
    const std::lock_guard lock(mutex_);
    if (!is_reading_) entry.events |= POLLIN;
  }
  const Deadline soon(std::min(deadline.at(), Deadline::Clock::now() + kLookAgain));
  (void)poll(&entry, 1, soon.PollTimeout());
  if ((entry.revents & POLLIN) == 0) return;
  std::unique_lock lock(mutex_);
  if (is_reading_) return;
  ReadOne(lock, Deadline::In({}));
  HandOverReading();
}

void LauncherExchange::ReadOne(std::unique_lock<std::mutex>& lock, const Deadline& deadline) {
  is_reading_ = true;
  lock.unlock();
  auto message = os::ReceivePacket(connection_.get(), sizeof(plan::LaunchReply), deadline);
  lock.lock();
  is_reading_ = false;
  Distribute(std::move(message));
}

Result<LauncherExchange::Answer> LauncherExchange::Await(const plan::LaunchRequest& request, Waiter& own,
                                                         const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  while (!own.answer && !deadline.Passed()) {
    if (is_reading_) {
      own.changed.wait_until(lock, deadline.at());
    } else {
      ReadOne(lock, deadline);
    }
  }
  waiters_.erase(request.number);
  HandOverReading();
  if (own.answer) return *std::move(own.answer);
  if (request.verb == plan::Verb::kCreate) given_up_.insert(request.number);
  return Fail(Error(Code::kDeadlineExceeded, "no answer in time"));
}

void LauncherExchange::Distribute(Result<os::Message> message) {
  if (!message && message.error().code() == Code::kDeadlineExceeded) return;
  if (!message) return FailAll(message.error());
  Answer answer;
  if (message->data.size() != sizeof answer.reply) {
    return FailAll(Error(Code::kInternal, "sent a malformed reply"));
  }
  std::memcpy(&answer.reply, message->data.data(), sizeof answer.reply);
  answer.reply.message[sizeof answer.reply.message - 1] = '\0';
  answer.fds = std::move(message->fds);
  Deliver(std::move(answer));
}

void LauncherExchange::Deliver(Answer answer) {
  if (answer.reply.number == 0) {
    // A failure that belongs to whatever was asked.
    for (const auto& [number, waiter] : waiters_) {
      if (waiter->answer) continue;
      waiter->answer = Answer{.reply = answer.reply, .fds = {}};
      waiter->changed.notify_one();
    }
    return;
  }
  if (const auto found = waiters_.find(answer.reply.number); found != waiters_.end()) {
    found->second->answer = std::move(answer);
    found->second->changed.notify_one();
    return;
  }
  if (given_up_.erase(answer.reply.number) != 0 && answer.reply.failed_step == plan::Step::kNone) {
    unclaimed_.push_back(answer.reply.slot);
  }
}

void LauncherExchange::FailAll(const Error& error) {
  for (const auto& [number, waiter] : waiters_) {
    if (waiter->answer) continue;
    waiter->answer = Fail(error);
    waiter->changed.notify_one();
  }
}

void LauncherExchange::HandOverReading() {
  if (is_reading_) return;
  const auto next = std::ranges::find_if(waiters_, [](const auto& entry) { return !entry.second->answer; });
  if (next != waiters_.end()) next->second->changed.notify_one();
}

void LauncherExchange::GiveBackUnclaimed() {
  std::vector<std::uint32_t> slots;
  {
    const std::lock_guard lock(mutex_);
    slots.swap(unclaimed_);
  }
  for (const std::uint32_t slot : slots) {
    plan::LaunchRequest request;
    request.verb = plan::Verb::kDestroy;
    request.slot = slot;
    (void)Send(request, {}, Deadline(Deadline::Clock::time_point::max()));
  }
}

}  // namespace caisson::backend
