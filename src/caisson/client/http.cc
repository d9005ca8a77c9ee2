#include "caisson/client/http.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <optional>

#include "caisson/base/deadline.h"
#include "caisson/client/connect.h"
#include "caisson/client/problem.h"
#include "caisson/os/poll.h"

namespace caisson::client {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::uint32_t kLargestHead = 32U << 10U;
constexpr std::size_t kPiece = 64U << 10U;

error_code FromErrno(int value) { return {value, boost::system::system_category()}; }

// A socket as Beast wants one, whose every read and write has an end: it waits with poll(2), also for `wake`.
class PolledStream {
 public:
  PolledStream(int fd, std::chrono::milliseconds silence, const Wake* wake) : fd_(fd), silence_(silence), wake_(wake) {}

  template <typename Buffers>
  std::size_t read_some(const Buffers& buffers, error_code& failed) {
    return Move<asio::mutable_buffer>(buffers, POLLIN, failed, [this](const asio::mutable_buffer& buffer) {
      return recv(fd_, buffer.data(), buffer.size(), 0);
    });
  }
  template <typename Buffers>
  std::size_t write_some(const Buffers& buffers, error_code& failed) {
    return Move<asio::const_buffer>(buffers, POLLOUT, failed, [this](const asio::const_buffer& buffer) {
      return send(fd_, buffer.data(), buffer.size(), MSG_NOSIGNAL);
    });
  }
  // Whether what is behind `wake` wanted an end.
  bool stopped() const { return stopped_; }

  // The throwing halves of Beast's requirements, which nothing here calls.
  template <typename Buffers>
  std::size_t read_some(const Buffers& buffers) {
    error_code failed;
    const std::size_t moved = read_some(buffers, failed);
    if (failed) throw boost::system::system_error(failed);
    return moved;
  }
  template <typename Buffers>
  std::size_t write_some(const Buffers& buffers) {
    error_code failed;
    const std::size_t moved = write_some(buffers, failed);
    if (failed) throw boost::system::system_error(failed);
    return moved;
  }

 private:
  // One system call on the first buffer that is not empty; moving less than was asked for is allowed.
  template <typename Buffer, typename Buffers, typename Call>
  std::size_t Move(const Buffers& buffers, short event, error_code& failed, const Call& call) {
    failed = {};
    const auto end = asio::buffer_sequence_end(buffers);
    const auto first =
        std::find_if(asio::buffer_sequence_begin(buffers), end, [](const Buffer& buffer) { return buffer.size() > 0; });
    if (first == end) return 0;
    while (true) {
      const ssize_t moved = call(*first);
      if (moved > 0) return static_cast<std::size_t>(moved);
      if (moved == 0) {
        failed = asio::error::eof;
        return 0;
      }
      if (errno == EINTR) continue;
      failed = errno == EAGAIN ? Await(event) : FromErrno(errno);
      if (failed) return 0;
    }
  }

  error_code Await(short event) {
    const Deadline deadline = Deadline::In(silence_);
    while (true) {
      std::array<pollfd, 2> entries = {pollfd{fd_, event, 0}, pollfd{wake_ == nullptr ? -1 : wake_->fd, POLLIN, 0}};
      if (!os::Poll(entries, deadline.PollTimeout())) return FromErrno(ENOMEM);
      if (entries[1].revents != 0 && wake_->on_ready() == Verdict::kStop) {
        stopped_ = true;
        return asio::error::operation_aborted;
      }
      if (entries[0].revents != 0) return {};
      if (deadline.Passed()) return asio::error::timed_out;
    }
  }

  int fd_;
  std::chrono::milliseconds silence_;
  const Wake* wake_;
  bool stopped_ = false;
};

using Message = http::request<http::span_body<const char>>;
using Parser = http::response_parser<http::buffer_body>;

Message MessageOf(const Endpoint& endpoint, const Request& request) {
  Message message;
  message.version(11);
  message.method_string(request.method);
  message.target(request.target);
  message.set(http::field::host, endpoint.host);
  message.set(http::field::user_agent, "caisson");
  message.set(http::field::accept, request.accept);
  if (endpoint.key) message.set(http::field::authorization, "Bearer " + *endpoint.key);
  for (const auto& [name, value] : request.headers) message.set(name, value);
  if (!request.content_type.empty()) message.set(http::field::content_type, request.content_type);
  message.body() = {request.body.data(), request.body.size()};
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    message.content_length(request.body.size());
  }
  return message;
}

enum class Connection : std::uint8_t { kNew, kUsedAgain };

}  // namespace

struct Http::State {
  Endpoint endpoint;
  Timeouts timeouts;
  os::Fd socket;
  boost::beast::flat_buffer buffer;  // what came beyond the reply before

  Result<Connection> Open();
  Error Broken(const error_code& failed, std::chrono::milliseconds silence) const;
  // Sends the request and reads the head of its reply.
  Status Begin(PolledStream& stream, const Request& request, Parser& parser, std::chrono::milliseconds silence);
  // What came next of the body; at its end, nothing.
  Result<std::size_t> ReadPiece(PolledStream& stream, Parser& parser, std::array<char, kPiece>& piece,
                                std::chrono::milliseconds silence);
  Result<Reply> ReadReply(PolledStream& stream, Parser& parser, std::chrono::milliseconds silence);
  void Close() {
    socket.Reset();
    buffer.clear();
  }
};

// A connection that the other side has closed meanwhile, or that says what nobody asked for, is not used again.
Result<Connection> Http::State::Open() {
  if (socket.valid()) {
    std::array<pollfd, 1> entries = {pollfd{socket.get(), POLLIN, 0}};
    if (buffer.size() == 0 && os::Poll(entries, 0) && entries[0].revents == 0) return Connection::kUsedAgain;
    Close();
  }
  CAISSON_TRY(socket, Connect(endpoint, Deadline::In(timeouts.connect)));
  return Connection::kNew;
}

Error Http::State::Broken(const error_code& failed, std::chrono::milliseconds silence) const {
  if (failed == asio::error::timed_out) {
    return Error(Code::kDeadlineExceeded, "the node at " + endpoint.text() + " was silent for too long")
        .Because("nothing came for " + FormatDuration(silence))
        .Remedy("see whether the node still runs, then try again")
        .Retryable();
  }
  if (failed == http::error::body_limit || failed == http::error::buffer_overflow ||
      failed == http::error::header_limit) {
    return Error(Code::kResourceExhausted, "the reply of the node at " + endpoint.text() + " is too large")
        .Because("the limit is " + FormatBytes(kLargestReply));
  }
  const bool is_end =
      failed == asio::error::eof || failed == http::error::end_of_stream || failed == http::error::partial_message;
  return LostError(endpoint, is_end ? "the node closed it" : failed.message());
}

Status Http::State::Begin(PolledStream& stream, const Request& request, Parser& parser,
                          std::chrono::milliseconds silence) {
  Message message = MessageOf(endpoint, request);
  error_code unsent;
  http::write(stream, message, unsent);
  if (unsent == asio::error::timed_out || stream.stopped()) return Fail(Broken(unsent, silence));
  // A node may refuse and close before it has read everything: then its reply says why.
  error_code failed;
  parser.header_limit(kLargestHead);
  parser.body_limit(boost::none);
  http::read_header(stream, buffer, parser, failed);
  if (failed) return Fail(Broken(unsent ? unsent : failed, silence));
  return {};
}

Result<std::size_t> Http::State::ReadPiece(PolledStream& stream, Parser& parser, std::array<char, kPiece>& piece,
                                           std::chrono::milliseconds silence) {
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    error_code failed;
    http::read_some(stream, buffer, parser, failed);
    const std::size_t came = piece.size() - parser.get().body().size;
    if (failed && failed != http::error::need_buffer) return Fail(Broken(failed, silence));
    if (came > 0) return came;
  }
  return 0;
}

Result<Reply> Http::State::ReadReply(PolledStream& stream, Parser& parser, std::chrono::milliseconds silence) {
  Reply reply;
  reply.status = parser.get().result_int();
  reply.content_type = std::string(parser.get()[http::field::content_type]);
  reply.content_range = std::string(parser.get()[http::field::content_range]);
  const auto piece = std::make_unique<std::array<char, kPiece>>();
  while (true) {
    CAISSON_TRY(const std::size_t came, ReadPiece(stream, parser, *piece, silence));
    if (came == 0) return reply;
    if (reply.body.size() + came > kLargestReply.value) return Fail(Broken(http::error::body_limit, silence));
    reply.body.append(piece->data(), came);
  }
}

Http::Http(Endpoint endpoint, Timeouts timeouts) : state_(std::make_unique<State>()) {
  state_->endpoint = std::move(endpoint);
  state_->timeouts = timeouts;
  // No more is read at once than fits, and into a new one that is 512 bytes.
  state_->buffer.reserve(kPiece);
}
Http::Http(Http&&) noexcept = default;
Http& Http::operator=(Http&&) noexcept = default;
Http::~Http() = default;

const Endpoint& Http::endpoint() const { return state_->endpoint; }

// Beast and the JSON reader of problems report want of memory by exception.
Result<Reply> Http::Exchange(const Request& request) try {
  State& state = *state_;
  CAISSON_TRY(const Connection connection, state.Open());
  PolledStream stream(state.socket.get(), state.timeouts.silence, nullptr);
  Parser parser;
  Result<Reply> reply = Fail(Error(Code::kInternal, "no reply"));
  const Status begun = state.Begin(stream, request, parser, state.timeouts.silence);
  if (begun) {
    reply = state.ReadReply(stream, parser, state.timeouts.silence);
  } else {
    reply = Fail(begun.error());
  }
  if (!reply || !parser.get().keep_alive()) state.Close();
  // The node closed a connection that it had kept just when it was used again. What may be done twice is asked again,
  // once: the next connection is a new one.
  if (connection == Connection::kUsedAgain && !begun && IsLost(begun.error()) && request.method != "POST")
    return Exchange(request);
  return reply;
} catch (const std::exception& error) {
  state_->Close();
  return Fail(Error(Code::kInternal, "talking to the node failed").Because(error.what()));
}

Result<Reply> Http::Ask(const Request& request) {
  CAISSON_TRY(Reply reply, Exchange(request));
  if (reply.status >= 400) return Fail(ErrorOfReply(reply.status, reply.body));
  return reply;
}

Result<StreamEnd> Http::Stream(const Request& request, const std::function<Verdict(std::string_view)>& sink,
                               const Wake& wake, std::chrono::milliseconds silence) try {
  State& state = *state_;
  state.Close();  // the stream takes a connection for itself, from its beginning
  if (const auto opened = state.Open(); !opened) return Fail(opened.error());
  PolledStream stream(state.socket.get(), silence, &wake);
  Parser parser;
  const auto close = [](State* closed) { closed->Close(); };
  const std::unique_ptr<State, decltype(close)> closer(&state, close);
  const Status begun = state.Begin(stream, request, parser, silence);
  if (stream.stopped()) return StreamEnd::kStopped;
  if (!begun) return Fail(begun.error());
  if (parser.get().result_int() >= 400) {
    CAISSON_TRY(const Reply reply, state.ReadReply(stream, parser, silence));
    return Fail(ErrorOfReply(reply.status, reply.body));
  }
  const auto piece = std::make_unique<std::array<char, kPiece>>();
  while (true) {
    const Result<std::size_t> came = state.ReadPiece(stream, parser, *piece, silence);
    if (stream.stopped()) return StreamEnd::kStopped;
    if (!came) return Fail(came.error());
    if (*came == 0) return StreamEnd::kEnded;
    if (sink({piece->data(), *came}) == Verdict::kStop) return StreamEnd::kStopped;
  }
} catch (const std::exception& error) {
  state_->Close();
  return Fail(Error(Code::kInternal, "talking to the node failed").Because(error.what()));
}

}  // namespace caisson::client
