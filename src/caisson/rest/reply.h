#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/service/service.h"

namespace boost::json {
class value;
}

namespace caisson::rest {

// A whole answer.
struct Reply {
  int status = 200;
  std::string content_type;  // empty: no body
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
};

Reply JsonReply(int status, const boost::json::value& value);

// What one request may wait for after its handler has returned, without a thread of its own: the end of a command.
class PendingReply {
 public:
  virtual ~PendingReply() = default;
  // Calls `ready` once, from any thread and perhaps at once or after this object is gone. A worker calls this.
  virtual Status Await(std::function<void()> ready) = 0;
  // The answer. Whoever calls `ready` calls this then, so that nobody has to be woken for it.
  virtual Result<Reply> Take() = 0;
  // Instead of Take: the client has gone. A worker calls this.
  virtual void Abandon() = 0;
};

// The bytes of an answer that come bit by bit. Only one function is called at a time.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  struct Piece {
    std::string bytes;  // empty: none now, unless there is a slice
    bool last = false;
    service::OutputFollower::Slice slice = {};  // in place of bytes; it stays until the next call of Next
    bool IsEmpty() const { return bytes.empty() && slice.length == 0; }
  };
  // What comes next. An error ends the connection without the stream's end, so that the client sees that something
  // lacks. A worker calls this.
  virtual Result<Piece> Next() = 0;
  // Calls `ready` once, from any thread and perhaps at once, when Next may give something. After Cancel nothing is
  // called any more.
  virtual void Await(std::function<void()> ready) = 0;
  virtual void Cancel() = 0;
};

struct StreamReply {
  Reply head;                           // its body is empty
  std::optional<std::uint64_t> length;  // absent: sent in chunks
  std::string silence;                  // sent now and then when nothing comes; may be empty
  std::unique_ptr<StreamSource> source;
};

using Answer = std::variant<Reply, std::shared_ptr<PendingReply>, StreamReply>;

// The words of a status. Source: RFC 9110, 15.
std::string_view ReasonPhrase(int status);

enum class AfterReply : std::uint8_t { kKeepAlive, kClose };
// The head of an answer as it is sent, to its empty line. Characters that would end a field early are left out.
// `length`: of the body; absent: sent in chunks.
std::string HeadText(const Reply& reply, std::optional<std::uint64_t> length, AfterReply after);
// What comes before the bytes of a chunk; behind them comes a line break.
std::string ChunkHead(std::uint64_t size);
// One chunk; of an empty text the last one.
std::string ChunkText(std::string_view bytes);

}  // namespace caisson::rest
