#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/rest/admission.h"
#include "caisson/rest/core.h"
#include "caisson/rest/reply.h"
#include "caisson/rest/request_head.h"

namespace caisson::rest {

template <typename T>
using Awaitable = boost::asio::awaitable<T>;

// One connection: reads a request, answers it, and again. Everything happens on the thread of connections; calls of
// the service go to workers, and the connection outlives its calls. Private to the module.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Core& core, Socket socket, Door door);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Its whole life. Static, so that the coroutine owns the connection.
  static Awaitable<void> Serve(std::shared_ptr<Connection> self);
  // The life of one for which there is no room.
  static Awaitable<void> TurnAway(std::shared_ptr<Connection> self);

  // Gives its place to another.
  void GiveWay();
  // Ends when its request is answered; a stream at once.
  void Stop();
  // Ends now.
  void Abort();

 private:
  enum class Progress : std::uint8_t { kDone, kEnd, kTimeout, kTooLarge, kMalformed };
  enum class Next : std::uint8_t { kAnother, kClose };
  enum class Framing : std::uint8_t { kNone, kChunk };

  // connection.cc: reading
  Awaitable<bool> AwaitRequest();
  Awaitable<Next> ServeOne();
  Awaitable<Progress> ReadHead(std::size_t& size);
  Awaitable<bool> ReadSome(std::size_t most);
  Awaitable<std::optional<Reply>> ReadBody(const RequestHead& head, Bytes limit, RequestParser& parser,
                                           BodyShare& share);
  Awaitable<std::optional<Reply>> ReadMoreOfBody(std::chrono::steady_clock::time_point end);
  Awaitable<Next> Refuse(Reply reply);
  Awaitable<void> CloseGently();

  // connection_answer.cc: calling and answering
  Awaitable<Next> Answer(Admitted& admitted, BodyShare& share, Next next);
  // What a request waits for once its handler has returned.
  struct Awaited {
    std::weak_ptr<PendingReply> pending;
    Status begun;
    std::shared_ptr<const Result<Reply>> reply;  // used on the thread of connections only
  };
  // `awaited`: set when the answer is a PendingReply, which is awaited then.
  Awaitable<Result<rest::Answer>> Handle(const Admitted& admitted, const std::string& key,
                                         std::shared_ptr<const Awaited>& awaited);
  Awaitable<std::optional<Reply>> AwaitPending(PendingReply& pending, const Awaited& awaited, const std::string& key);
  std::function<void()> ReplyInto(const std::shared_ptr<Awaited>& awaited);
  Awaitable<Next> SendReply(const Reply& reply, Admitted::Want want, Next next);
  Awaitable<Next> SendStream(StreamReply& reply, const std::string& key, Admitted::Want want, Next next);
  Awaitable<bool> SendPieces(StreamReply& reply, const std::string& key);
  Awaitable<bool> SendSlice(const service::OutputFollower::Slice& slice, Framing framing, const std::string& key);
  Awaitable<bool> AwaitPiece(const std::shared_ptr<bool>& ready, const StreamReply& reply);
  Awaitable<bool> Write(std::string_view bytes);
  template <typename T>
  Awaitable<Result<T>> Call(Workers& workers, std::string key, std::function<Result<T>()> work);
  std::function<void()> NoticeInto(const std::shared_ptr<bool>& ready);

  // Whether the client is still there, while it is not its turn: reads ahead what it sends.
  void Watch();
  Awaitable<void> EndWatch();

  // A limit of time for the next operations on the socket, which end when it is over.
  void Arm(std::chrono::milliseconds time);
  void Disarm();
  void Wake();
  // False when the time is over first.
  Awaitable<bool> AwaitWake(std::chrono::milliseconds most);
  void Leave();

  Core& core_;
  Socket socket_;
  const Door door_;
  boost::asio::steady_timer limit_;
  boost::asio::steady_timer wake_;
  boost::asio::steady_timer work_;
  std::uint64_t armed_ = 0;  // counts Arm, so that a late timer means nothing
  bool timed_out_ = false;
  bool woken_ = false;
  bool work_done_ = false;
  bool is_idle_ = false;
  bool gone_ = false;  // the client, or our wish to serve it
  bool watching_ = false;
  bool ends_watch_ = false;
  bool lingers_ = false;  // something that it sends may not be read
  std::string in_;        // read, but not used
  std::string ahead_;
};

// What `work` throws becomes kInternal.
template <typename T>
Result<T> Caught(const std::function<Result<T>()>& work) {
  try {
    return work();
  } catch (const std::exception& failure) {
    return Fail(Error(Code::kInternal, "the call failed").Because(failure.what()));
  }
}

// Runs `work` on a worker, and catches what it throws. A new call that waits too long for its worker is withdrawn.
template <typename T>
Awaitable<Result<T>> Connection::Call(Workers& workers, std::string key, std::function<Result<T>()> work) {
  std::optional<Result<T>> result;
  work_done_ = false;
  const std::shared_ptr<Mailbox> mailbox = core_.mailbox;
  // `this` outlives the call: this coroutine, which owns it, waits for the end.
  const auto ticket = workers.Submit(std::move(key), [this, mailbox, &result, &work] {
    result = Caught(work);
    mailbox->Post([this] {
      work_done_ = true;
      work_.cancel();
    });
  });
  if (!ticket) co_return Fail(ticket.error());
  bool patient = &workers != &core_.calls;  // what was let in is done, however long it takes
  while (!work_done_) {
    work_.expires_after(patient ? std::chrono::milliseconds(std::chrono::hours(1)) : core_.limits.wait);
    boost::system::error_code ec;
    co_await work_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ec));
    if (work_done_ || ec || patient) continue;
    if (workers.Withdraw(*ticket)) {
      co_return Fail(Error(Code::kUnavailable, "the node is busy")
                         .Because("no worker was free in time")
                         .Detail("retry_after_ms", "1000")
                         .Retryable());
    }
    patient = true;
  }
  co_return std::move(*result);
}

}  // namespace caisson::rest
