#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/client/endpoint.h"

namespace caisson::client {

struct Request {
  std::string method = "GET";
  std::string target;  // path and query, encoded
  std::string_view body = {};
  std::string content_type = {};  // of the body; empty: there is none
  std::string accept = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct Reply {
  unsigned status = 0;
  std::string content_type;
  std::string content_range;
  std::string body;
};

enum class Verdict : std::uint8_t { kContinue, kStop };

// Something else to look at while a stream is silent: when `fd` becomes readable `on_ready` is called, which must read
// it empty. Borrowed; -1: nothing.
struct Wake {
  int fd = -1;
  std::function<Verdict()> on_ready = {};
};

struct Timeouts {
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds silence{120'000};  // within a reply, and before it
};

enum class StreamEnd : std::uint8_t { kEnded, kStopped };

// HTTP/1.1 with one node, one exchange at a time, over a connection that is kept as long as both sides like and made
// again when needed. Blocks the caller. Not thread-safe; move-only. Source: RFC 9112.
class Http {
 public:
  static constexpr Bytes kLargestReply =
      MiB(64);  // a result is two streams of 1 MiB, which JSON may make six times as long

  explicit Http(Endpoint endpoint, Timeouts timeouts = {});
  Http(Http&&) noexcept;
  Http& operator=(Http&&) noexcept;
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;
  ~Http();

  const Endpoint& endpoint() const;

  // The reply, whatever its status. Errors: those of Connect; kUnavailable when the connection is lost (IsLost);
  // kDeadlineExceeded after the silence of Timeouts; kResourceExhausted for a reply over kLargestReply.
  Result<Reply> Exchange(const Request& request);
  // The same, where a status from 400 on is an error, that of the reply (ErrorOfReply).
  Result<Reply> Ask(const Request& request);
  // Gives the body of a success to `sink` as it comes, until it ends or somebody says kStop; the connection is closed
  // then. `silence`: how long nothing may come before the connection counts as lost. Errors: as Ask.
  Result<StreamEnd> Stream(const Request& request, const std::function<Verdict(std::string_view)>& sink,
                           const Wake& wake, std::chrono::milliseconds silence);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace caisson::client
