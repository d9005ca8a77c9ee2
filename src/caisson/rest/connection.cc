#include "caisson/rest/connection.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>

#include "caisson/rest/problem.h"
#include "caisson/rest/routes.h"

namespace caisson::rest {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kHeadStep = 4096;
constexpr std::size_t kBodyStep = std::size_t{64} << 10U;
constexpr milliseconds kLingerTime{1000};
constexpr std::size_t kLingerBytes = std::size_t{1} << 20U;
// Bytes that no chunk's first line needs.
constexpr std::size_t kMostUnread = std::size_t{8} << 10U;

// A line end without its first half, or a first byte that begins no method: no more of it needs to come.
bool LooksWrong(std::string_view text) {
  if (text.empty()) return false;
  if (text.front() < 'A' || text.front() > 'Z') return true;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (text[at - 1] != '\r') return true;
  }
  return false;
}

Error TooSlow(const char* what) {
  return Error(Code::kDeadlineExceeded, std::string(what) + " did not arrive in time");
}

}  // namespace

Connection::Connection(Core& core, Socket socket, Door door)
    : core_(core),
      socket_(std::move(socket)),
      door_(std::move(door)),
      limit_(core.io),
      wake_(core.io),
      work_(core.io) {}

Connection::~Connection() { Leave(); }

void Connection::Leave() {
  if (is_idle_) core_.idle.remove(this);
  is_idle_ = false;
  if (core_.connections.erase(this) == 0) return;
  core_.count = static_cast<std::uint32_t>(core_.connections.size());
  if (core_.stopping && core_.connections.empty()) core_.stop_timer.cancel();
}

void Connection::GiveWay() {
  Leave();
  Abort();
}

void Connection::Stop() {
  if (is_idle_) return Abort();
  Wake();
}

void Connection::Abort() {
  gone_ = true;
  error_code ignored;
  ignored = socket_.close(ignored);
  Wake();
}

void Connection::Arm(milliseconds time) {
  timed_out_ = false;
  limit_.expires_after(time);
  limit_.async_wait([weak = weak_from_this(), number = ++armed_](error_code ec) {
    const std::shared_ptr<Connection> self = weak.lock();
    if (ec || !self || self->armed_ != number) return;
    self->timed_out_ = true;
    error_code ignored;
    ignored = self->socket_.cancel(ignored);
  });
}

void Connection::Disarm() {
  ++armed_;
  limit_.cancel();
}

Awaitable<void> Connection::Serve(std::shared_ptr<Connection> self) {
  while (self->socket_.is_open()) {
    if (self->in_.empty()) {
      const bool begun = co_await self->AwaitRequest();
      if (!begun) break;
    }
    const Next next = co_await self->ServeOne();
    if (next == Next::kClose || self->core_.stopping) break;
  }
  co_await self->CloseGently();
}

Awaitable<void> Connection::TurnAway(std::shared_ptr<Connection> self) {
  (void)co_await self->Refuse(Problem(
      Error(Code::kUnavailable, "the node has too many connections").Detail("retry_after_ms", "1000").Retryable()));
  co_await self->CloseGently();
  --self->core_.refusing;
}

Awaitable<bool> Connection::AwaitRequest() {
  if (core_.stopping) co_return false;
  is_idle_ = true;
  core_.idle.push_back(this);
  Arm(core_.limits.idle);
  error_code ec;
  co_await socket_.async_wait(Socket::wait_read, asio::redirect_error(asio::use_awaitable, ec));
  Disarm();
  if (is_idle_) core_.idle.remove(this);
  is_idle_ = false;
  co_return !ec && !gone_;
}

Awaitable<bool> Connection::ReadSome(std::size_t most) {
  const std::size_t before = in_.size();
  in_.resize(before + most);
  error_code ec;
  const std::size_t got = co_await socket_.async_read_some(asio::buffer(in_.data() + before, most),
                                                           asio::redirect_error(asio::use_awaitable, ec));
  in_.resize(before + got);
  co_return !ec && got > 0;
}

Awaitable<Connection::Progress> Connection::ReadHead(std::size_t& size) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t most = core_.limits.header.value;
  Arm(core_.limits.header_time);
  Progress progress = Progress::kDone;
  std::size_t looked = 0;
  while (true) {
    const std::size_t end = in_.find(kEnd, looked);
    if (LooksWrong(std::string_view(in_).substr(0, end))) {
      progress = Progress::kMalformed;
      break;
    }
    size = end + kEnd.size();
    if (end != std::string::npos && size <= most) break;
    if (end != std::string::npos || in_.size() > most) {
      progress = Progress::kTooLarge;
      break;
    }
    looked = in_.size() < kEnd.size() ? 0 : in_.size() - kEnd.size() + 1;
    const bool more = co_await ReadSome(kHeadStep);
    if (more) continue;
    progress = timed_out_ ? Progress::kTimeout : Progress::kEnd;
    break;
  }
  Disarm();
  co_return progress;
}

Awaitable<Connection::Next> Connection::Refuse(Reply reply) {
  lingers_ = true;
  co_return co_await SendReply(reply, Admitted::Want::kWhole, Next::kClose);
}

Awaitable<Connection::Next> Connection::ServeOne() {
  std::size_t size = 0;
  const Progress progress = co_await ReadHead(size);
  if (progress == Progress::kEnd) co_return Next::kClose;
  if (progress == Progress::kTimeout) co_return co_await Refuse(Problem(408, TooSlow("the head of the request")));
  if (progress == Progress::kTooLarge) {
    const bool long_line = in_.find("\r\n") > core_.limits.target.value;
    co_return co_await Refuse(
        Problem(long_line ? 414 : 431, Error(Code::kInvalidArgument, "the head of the request is too large")));
  }
  RequestParser parser;
  auto head =
      parser.ReadHead(progress == Progress::kMalformed ? std::string_view(in_) : std::string_view(in_).substr(0, size));
  if (!head) co_return co_await Refuse(Problem(400, head.error()));
  in_.erase(0, size);
  if (in_.empty()) in_.shrink_to_fit();

  auto verdict = Admit(*head, door_, core_.keys, Routes(), core_.limits);
  const Next next = head->closes || core_.stopping ? Next::kClose : Next::kAnother;
  if (const Reply* refusal = std::get_if<Reply>(&verdict)) {
    lingers_ = head->has_body();
    const Admitted::Want want = head->method == "HEAD" ? Admitted::Want::kHeadOnly : Admitted::Want::kWhole;
    // A second request cannot be told from a body that was not read, nor from what was malformed.
    co_return co_await SendReply(*refusal, want, lingers_ || refusal->status == 505 ? Next::kClose : next);
  }
  Admitted& admitted = std::get<Admitted>(verdict);
  BodyShare share(core_);
  if (head->has_body()) {
    std::optional<Reply> refusal = co_await ReadBody(*head, admitted.body_limit, parser, share);
    if (refusal) co_return co_await Refuse(std::move(*refusal));
    if (gone_) co_return Next::kClose;
    admitted.request.body = parser.MoveBody();
  }
  co_return co_await Answer(admitted, share, next);
}

Awaitable<std::optional<Reply>> Connection::ReadMoreOfBody(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
  Arm(std::max(milliseconds(0), std::min(left, core_.limits.body_silence)));
  const bool more = co_await ReadSome(kBodyStep);
  Disarm();
  if (more) co_return std::nullopt;
  if (timed_out_) co_return Problem(408, TooSlow("the body of the request"));
  gone_ = true;
  co_return std::nullopt;
}

Awaitable<std::optional<Reply>> Connection::ReadBody(const RequestHead& head, Bytes limit, RequestParser& parser,
                                                     BodyShare& share) {
  const Error no_room = Error(Code::kUnavailable, "the node has no memory for this body now")
                            .Detail("retry_after_ms", "1000")
                            .Retryable();
  if (!share.Grow(head.content_length.value_or(0))) co_return Problem(no_room);
  if (head.CountOf("expect") > 0 && in_.empty()) {
    const bool told = co_await Write("HTTP/1.1 100 Continue\r\n\r\n");
    if (!told) gone_ = true;
  }
  const auto end = std::chrono::steady_clock::now() + core_.limits.body_time;
  bool wants_more = in_.empty();
  while (!gone_ && !parser.is_done()) {
    if (wants_more) {
      std::optional<Reply> late = co_await ReadMoreOfBody(end);
      if (late) co_return late;
      wants_more = false;
      continue;
    }
    const auto taken = parser.TakeBody(in_);
    if (!taken) co_return Problem(400, taken.error());
    in_.erase(0, *taken);
    if (parser.body_size() > limit.value) {
      co_return Problem(413, Error(Code::kInvalidArgument, "the body is larger than " + FormatBytes(limit)));
    }
    if (!share.Grow(parser.body_size())) co_return Problem(no_room);
    if (*taken == 0 && in_.size() > kMostUnread) {
      co_return Problem(400, Error(Code::kInvalidArgument, "the chunks of the body are malformed"));
    }
    wants_more = *taken == 0 || in_.empty();
  }
  co_return std::nullopt;
}

// The client reads an answer only if what it still sends does not make the kernel drop the connection.
Awaitable<void> Connection::CloseGently() {
  error_code ignored;
  ignored = socket_.shutdown(Socket::shutdown_send, ignored);
  if (lingers_ && !gone_) {
    Arm(kLingerTime);
    std::size_t dropped = 0;
    while (dropped < kLingerBytes) {
      in_.clear();
      const bool more = co_await ReadSome(kBodyStep);
      if (!more) break;
      dropped += in_.size();
    }
    Disarm();
  }
  ignored = socket_.close(ignored);
  Leave();
}

}  // namespace caisson::rest
