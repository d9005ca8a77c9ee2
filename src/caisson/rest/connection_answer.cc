#include <boost/asio/buffer.hpp>

#include "caisson/rest/connection.h"
#include "caisson/rest/problem.h"
#include "caisson/rest/slice_sender.h"

namespace caisson::rest {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kLong = std::chrono::hours(1);
constexpr std::size_t kAheadStep = 4096;
constexpr std::size_t kMostAhead = std::size_t{16} << 10U;

// Calls that wait for each other: those of one sandbox, and the making of sandboxes.
std::string KeyOf(const Request& request) {
  if (!request.sandbox.empty()) return request.sandbox;
  return request.method == Method::kPost ? request.target : std::string();
}

}  // namespace

Awaitable<Connection::Next> Connection::Answer(Admitted& admitted, BodyShare& share, Next next) {
  const std::string key = KeyOf(admitted.request);
  std::shared_ptr<const Awaited> awaited;
  Result<rest::Answer> answer = co_await Handle(admitted, key, awaited);
  // The answer may take hours, and has no use for the body.
  admitted.request.body = std::string();
  share.Release();
  if (!answer) co_return co_await SendReply(Problem(answer.error()), admitted.want, next);
  if (const Reply* reply = std::get_if<Reply>(&*answer)) co_return co_await SendReply(*reply, admitted.want, next);
  if (StreamReply* stream = std::get_if<StreamReply>(&*answer)) {
    co_return co_await SendStream(*stream, key, admitted.want, next);
  }
  PendingReply& pending = *std::get<std::shared_ptr<PendingReply>>(*answer);
  const std::optional<Reply> reply = co_await AwaitPending(pending, *awaited, key);
  if (!reply) co_return Next::kClose;
  co_return co_await SendReply(*reply, admitted.want, next);
}

Awaitable<Result<rest::Answer>> Connection::Handle(const Admitted& admitted, const std::string& key,
                                                   std::shared_ptr<const Awaited>& awaited) {
  const std::function<Result<rest::Answer>()> handle = [&] {
    Result<rest::Answer> answer = admitted.route->handler(core_.node, admitted.request);
    const auto* pending = answer ? std::get_if<std::shared_ptr<PendingReply>>(&*answer) : nullptr;
    if (pending == nullptr) return answer;
    // At once: each turn of another thread delays the answer.
    const auto begins = std::make_shared<Awaited>(Awaited{.pending = *pending, .begun = {}, .reply = nullptr});
    awaited = begins;
    begins->begun = (*pending)->Await(ReplyInto(begins));
    return answer;
  };
  if (admitted.route->where == Where::kHere) co_return handle();
  co_return co_await Call<rest::Answer>(core_.calls, key, handle);
}

std::function<void()> Connection::ReplyInto(const std::shared_ptr<Awaited>& awaited) {
  return [weak = weak_from_this(), mailbox = core_.mailbox, awaited] {
    const std::shared_ptr<PendingReply> pending = awaited->pending.lock();
    if (pending == nullptr) return;  // its client has gone
    const auto reply = std::make_shared<const Result<Reply>>(Caught<Reply>([&] { return pending->Take(); }));
    mailbox->Post([weak, awaited, reply] {
      awaited->reply = reply;
      if (const std::shared_ptr<Connection> self = weak.lock()) self->Wake();
    });
  };
}

std::function<void()> Connection::NoticeInto(const std::shared_ptr<bool>& ready) {
  return [weak = weak_from_this(), mailbox = core_.mailbox, ready] {
    mailbox->Post([weak, ready] {
      *ready = true;
      if (const std::shared_ptr<Connection> self = weak.lock()) self->Wake();
    });
  };
}

Awaitable<std::optional<Reply>> Connection::AwaitPending(PendingReply& pending, const Awaited& awaited,
                                                         const std::string& key) {
  Watch();
  while (awaited.begun && awaited.reply == nullptr && !gone_) (void)co_await AwaitWake(kLong);
  if (awaited.reply == nullptr) {
    const std::function<Status()> abandon = [&]() -> Status {
      pending.Abandon();
      return {};
    };
    (void)co_await Call<void>(core_.follow_ups, key, abandon);
    co_await EndWatch();
    if (awaited.begun) co_return std::nullopt;
    co_return Problem(awaited.begun.error());
  }
  co_await EndWatch();
  if (!*awaited.reply) co_return Problem(awaited.reply->error());
  co_return **awaited.reply;
}

Awaitable<Connection::Next> Connection::SendReply(const Reply& reply, Admitted::Want want, Next next) {
  const AfterReply after = next == Next::kClose || core_.stopping ? AfterReply::kClose : AfterReply::kKeepAlive;
  std::string text = HeadText(reply, reply.body.size(), after);
  if (want == Admitted::Want::kWhole) text += reply.body;
  const bool sent = co_await Write(text);
  if (!sent) gone_ = true;
  co_return sent&& after == AfterReply::kKeepAlive ? Next::kAnother : Next::kClose;
}

Awaitable<Connection::Next> Connection::SendStream(StreamReply& reply, const std::string& key, Admitted::Want want,
                                                   Next next) {
  const AfterReply after = next == Next::kClose ? AfterReply::kClose : AfterReply::kKeepAlive;
  const std::string head = HeadText(reply.head, reply.length, after);
  bool whole = co_await Write(head);
  if (whole && want == Admitted::Want::kWhole) {
    // Who asks for a file may have closed its side already; who follows something must stay.
    if (!reply.length) Watch();
    whole = co_await SendPieces(reply, key);
  }
  reply.source->Cancel();
  co_await EndWatch();
  if (!whole) gone_ = true;
  co_return whole ? next : Next::kClose;
}

Awaitable<bool> Connection::SendPieces(StreamReply& reply, const std::string& key) {
  while (!gone_) {
    const auto ready = std::make_shared<bool>(false);
    const std::function<Result<StreamSource::Piece>()> next = [&] {
      Result<StreamSource::Piece> piece = reply.source->Next();
      if (piece && piece->IsEmpty() && !piece->last) reply.source->Await(NoticeInto(ready));
      return piece;
    };
    Result<StreamSource::Piece> piece = co_await Call<StreamSource::Piece>(core_.follow_ups, key, next);
    if (!piece || gone_) co_return false;
    if (piece->slice.length > 0) {
      const bool sent = co_await SendSlice(piece->slice, reply.length ? Framing::kNone : Framing::kChunk, key);
      if (!sent || (core_.stopping && !reply.length)) co_return false;
      continue;
    }
    std::string text = std::move(piece->bytes);
    const bool is_empty = text.empty();
    if (!reply.length && !is_empty) text = ChunkText(text);
    if (!reply.length && piece->last) text += ChunkText("");
    const bool sent = text.empty() || co_await Write(text);
    if (!sent || piece->last) co_return sent;
    if (core_.stopping && !reply.length) co_return false;
    if (!is_empty) continue;
    const bool more = co_await AwaitPiece(ready, reply);
    if (!more) co_return false;
  }
  co_return false;
}

Awaitable<bool> Connection::SendSlice(const service::OutputFollower::Slice& slice, Framing framing,
                                      const std::string& key) {
  const bool in_chunk = framing == Framing::kChunk;
  auto sender = SliceSender::Start(socket_.native_handle(), slice, in_chunk ? ChunkHead(slice.length) : std::string(),
                                   in_chunk ? "\r\n" : std::string());
  if (!sender) co_return false;
  // Reading may wait for the disk.
  const std::function<Result<SliceSender::Progress>()> send = [&] { return sender->Send(); };
  while (!gone_) {
    const Result<SliceSender::Progress> sent = co_await Call<SliceSender::Progress>(core_.follow_ups, key, send);
    if (!sent) co_return false;
    if (*sent == SliceSender::Progress::kDone) co_return true;
    if (gone_) break;
    Arm(core_.limits.write_silence);
    error_code ec;
    co_await socket_.async_wait(Socket::wait_write, asio::redirect_error(asio::use_awaitable, ec));
    Disarm();
    if (ec) co_return false;
  }
  co_return false;
}

// Until there may be a piece; says something now and then meanwhile. False when the stream is over.
Awaitable<bool> Connection::AwaitPiece(const std::shared_ptr<bool>& ready, const StreamReply& reply) {
  while (!*ready) {
    if (gone_ || core_.stopping) co_return false;
    const bool woken = co_await AwaitWake(core_.limits.stream_silence);
    if (woken || reply.silence.empty()) continue;
    const std::string comment = ChunkText(reply.silence);
    const bool sent = co_await Write(comment);
    if (!sent) co_return false;
  }
  co_return !gone_;
}

Awaitable<bool> Connection::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    Arm(core_.limits.write_silence);
    error_code ec;
    const std::size_t sent = co_await socket_.async_write_some(asio::buffer(bytes.data(), bytes.size()),
                                                               asio::redirect_error(asio::use_awaitable, ec));
    Disarm();
    if (ec) co_return false;
    bytes.remove_prefix(sent);
  }
  co_return true;
}

void Connection::Watch() {
  ends_watch_ = false;
  if (watching_ || gone_ || in_.size() >= kMostAhead) return;
  watching_ = true;
  ahead_.resize(kAheadStep);
  socket_.async_read_some(asio::buffer(ahead_.data(), ahead_.size()),
                          [self = shared_from_this()](error_code ec, std::size_t got) {
                            self->watching_ = false;
                            self->in_.append(self->ahead_, 0, got);
                            if (ec && !self->ends_watch_) self->gone_ = true;
                            if (!ec && !self->ends_watch_) self->Watch();
                            self->Wake();
                          });
}

Awaitable<void> Connection::EndWatch() {
  ends_watch_ = true;
  if (watching_) {
    error_code ignored;
    ignored = socket_.cancel(ignored);
  }
  while (watching_) (void)co_await AwaitWake(kLong);
}

void Connection::Wake() {
  woken_ = true;
  wake_.cancel();
}

Awaitable<bool> Connection::AwaitWake(milliseconds most) {
  if (!woken_) {
    wake_.expires_after(most);
    error_code ignored;
    co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return std::exchange(woken_, false);
}

}  // namespace caisson::rest
