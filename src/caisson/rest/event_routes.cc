#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "caisson/rest/event_text.h"
#include "caisson/rest/infos_json.h"
#include "caisson/rest/problem.h"
#include "caisson/rest/query.h"
#include "caisson/rest/routes.h"
#include "caisson/wire/json_text.h"

namespace caisson::rest {
namespace {

// What happens on the node, for as long as the client listens.
class NodeEvents final : public StreamSource {
 public:
  NodeEvents(std::unique_ptr<service::EventFollower> follower, Bytes piece)
      : follower_(std::move(follower)), piece_(piece.value) {}

  Result<Piece> Next() override {
    Piece piece;
    while (piece.bytes.size() < piece_) {
      auto event = follower_->Next();
      // What was read before an error is sent; the error comes again.
      if (!event && piece.bytes.empty()) return Fail(std::move(event).error());
      if (!event || !*event) break;
      std::string data = wire::JsonLine(EventObject(**event));
      data.pop_back();
      piece.bytes += EventText((*event)->type, std::to_string((*event)->number), data);
    }
    return piece;
  }
  void Await(std::function<void()> ready) override { follower_->Await(std::move(ready)); }
  void Cancel() override { follower_->Cancel(); }

 private:
  std::unique_ptr<service::EventFollower> follower_;
  std::size_t piece_;
};

}  // namespace

Result<Answer> FollowEvents(const Node& node, const Request& request) {
  QueryReader query(request.query);
  std::uint64_t after = query.Count("after", 0, kMostPosition, 0);
  CAISSON_CHECK_OK(query.Finish());
  if (!Accepts(request.accept, "text/event-stream")) {
    return Problem(406, Error(Code::kInvalidArgument, "this is given as text/event-stream"));
  }
  if (request.last_event_id) {
    const std::optional<std::uint64_t> last = ParsePosition(*request.last_event_id);
    if (!last) return Fail(Error(Code::kInvalidArgument, "the field Last-Event-ID is none of this stream"));
    after = *last;
  }
  CAISSON_TRY(auto follower, node.service.FollowEvents(request.caller, after));
  StreamReply reply;
  reply.head.content_type = "text/event-stream";
  reply.silence = kSilenceComment;
  reply.source = std::make_unique<NodeEvents>(std::move(follower), node.stream_piece);
  return reply;
}

}  // namespace caisson::rest
