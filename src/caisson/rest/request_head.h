#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::rest {

// The request line and the fields of one request. Names of fields are in small letters; their order is kept.
struct RequestHead {
  std::string method;
  std::string target;
  unsigned version = 11;  // HTTP/1.1
  std::vector<std::pair<std::string, std::string>> fields;

  // The value of a field that is there once; nothing when it is absent or there more than once.
  std::optional<std::string> One(std::string_view name) const;
  std::size_t CountOf(std::string_view name) const;
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  bool closes = false;  // `Connection: close`

  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
};

// Refuses what two programs on one way may read differently (request smuggling): a line that does not end in CRLF, a
// folded field, a space before a colon, control characters, more than 100 fields. `head` ends with its empty line.
// Pure.
Status CheckHead(std::string_view head);

// Reads one request from the bytes of a connection: its head, then its body. Wraps the parser of Boost.Beast.
class RequestParser {
 public:
  RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  // `head` ends with its empty line. Errors: kInvalidArgument, also for two lengths, a length beside chunks, and a
  // coding other than chunked.
  Result<RequestHead> ReadHead(std::string_view head);
  // Takes what it can from the front of `bytes` and says how much: 0 when it needs more. Errors: kInvalidArgument.
  Result<std::size_t> TakeBody(std::string_view bytes);
  bool is_done() const;
  // Of the body, so far.
  std::size_t body_size() const;
  std::string MoveBody();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace caisson::rest
