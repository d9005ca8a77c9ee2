#include <boost/json.hpp>
#include <memory>
#include <tuple>
#include <utility>

#include "caisson/rest/event_text.h"
#include "caisson/rest/infos_json.h"
#include "caisson/rest/problem.h"
#include "caisson/rest/query.h"
#include "caisson/rest/routes.h"
#include "caisson/wire/json_text.h"

namespace caisson::rest {
namespace {

constexpr std::uint64_t kBehindAll = std::uint64_t{1} << 62U;  // of a stream that is not wanted

enum class Follow : std::uint8_t { kNo, kYes };

// The output of one command as events, then its result.
class EventSource final : public StreamSource {
 public:
  EventSource(const Node& node, const Request& request, std::unique_ptr<service::OutputFollower> follower,
              OutputEvents events, Follow follow)
      : service_(node.service),
        piece_(node.stream_piece.value),
        caller_(request.caller),
        sandbox_(request.sandbox),
        command_(request.command),
        follower_(std::move(follower)),
        events_(std::move(events)),
        follow_(follow) {}

  Result<Piece> Next() override {
    while (!read_all_) {
      CAISSON_TRY(const std::optional<service::OutputFollower::Chunk> chunk, follower_->Next(piece_));
      if (chunk) {
        std::string text = events_.Write(*chunk);
        if (text.empty()) continue;
        return Piece{.bytes = std::move(text), .last = false};
      }
      if (!follower_->Finished()) return Piece{.bytes = {}, .last = follow_ == Follow::kNo};
      read_all_ = true;
    }
    auto step = service_.ResultOf(caller_, sandbox_, command_);
    // It has ended, but its result is not recorded yet.
    if (!step && step.error().code() == Code::kConflict) return Piece{};
    if (!step) return Fail(std::move(step).error());
    std::string text = events_.Flush();
    std::string data = wire::JsonLine(StepObject(*step));
    data.pop_back();
    return Piece{.bytes = text + EventText("end", events_.Id(), data), .last = true};
  }

  void Await(std::function<void()> ready) override {
    if (!read_all_) return follower_->Await(std::move(ready));
    if (!service_.AwaitEnd(caller_, sandbox_, command_, ready)) ready();
  }
  void Cancel() override { follower_->Cancel(); }

 private:
  service::Service& service_;
  std::size_t piece_;
  service::Caller caller_;
  std::string sandbox_;
  std::string command_;
  std::unique_ptr<service::OutputFollower> follower_;
  OutputEvents events_;
  Follow follow_;
  bool read_all_ = false;
};

// The bytes of one stream as they are. Bytes that are no longer kept end it without its end.
class RawSource final : public StreamSource {
 public:
  RawSource(std::unique_ptr<service::OutputFollower> follower, service::Stream stream, Follow follow)
      : follower_(std::move(follower)), stream_(stream), follow_(follow) {}

  Result<Piece> Next() override {
    while (true) {
      CAISSON_TRY(const std::optional<service::OutputFollower::Place> place, follower_->NextPlace(kSlice));
      if (!place) return Piece{.bytes = {}, .last = follower_->Finished() || follow_ == Follow::kNo};
      if (place->chunk.stream != stream_) continue;
      if (place->chunk.dropped > 0) return Fail(Error(Code::kUnavailable, "a part of the output is not kept any more"));
      return Piece{.bytes = {}, .last = false, .slice = place->slice};
    }
  }
  void Await(std::function<void()> ready) override { follower_->Await(std::move(ready)); }
  void Cancel() override { follower_->Cancel(); }

 private:
  // A chunk of HTTP; nothing of it is read into memory.
  static constexpr std::size_t kSlice = MiB(1).value;

  std::unique_ptr<service::OutputFollower> follower_;
  service::Stream stream_;
  Follow follow_;
};

Reply NotAcceptable(const char* type) {
  return Problem(406, Error(Code::kInvalidArgument, std::string("this is given as ") + type)
                          .Remedy(std::string("send Accept: ") + type));
}

Result<Answer> FollowRaw(const Node& node, const Request& request, service::Stream stream, std::uint64_t from,
                         Follow follow) {
  if (!Accepts(request.accept, "application/octet-stream")) return NotAcceptable("application/octet-stream");
  const bool is_stdout = stream == service::Stream::kStdout;
  CAISSON_TRY(auto follower, node.service.FollowOutput(request.caller, request.sandbox, request.command,
                                                       is_stdout ? from : kBehindAll, is_stdout ? kBehindAll : from));
  StreamReply reply;
  reply.head.content_type = "application/octet-stream";
  reply.source = std::make_unique<RawSource>(std::move(follower), stream, follow);
  return reply;
}

}  // namespace

Result<Answer> FollowOutput(const Node& node, const Request& request) {
  QueryReader query(request.query);
  std::uint64_t out = query.Count("stdout_from", 0, kMostPosition, 0);
  std::uint64_t err = query.Count("stderr_from", 0, kMostPosition, 0);
  const Follow follow = query.Switch("follow", true) ? Follow::kYes : Follow::kNo;
  const std::optional<std::size_t> chosen = query.Choice("stream", {"stdout", "stderr"});
  CAISSON_CHECK_OK(query.Finish());
  if (chosen) {
    const service::Stream stream = *chosen == 0 ? service::Stream::kStdout : service::Stream::kStderr;
    return FollowRaw(node, request, stream, *chosen == 0 ? out : err, follow);
  }
  if (!Accepts(request.accept, "text/event-stream")) return NotAcceptable("text/event-stream");
  if (request.last_event_id) {
    const auto offsets = ParseOutputId(*request.last_event_id);
    if (!offsets) return Fail(Error(Code::kInvalidArgument, "the field Last-Event-ID is none of this stream"));
    std::tie(out, err) = *offsets;
  }
  CAISSON_TRY(auto follower, node.service.FollowOutput(request.caller, request.sandbox, request.command, out, err));
  StreamReply reply;
  reply.head.content_type = "text/event-stream";
  reply.silence = kSilenceComment;
  reply.source = std::make_unique<EventSource>(node, request, std::move(follower), OutputEvents(out, err), follow);
  return reply;
}

}  // namespace caisson::rest
