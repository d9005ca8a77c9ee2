#include "caisson/rest/request_head.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <exception>

#include "caisson/base/units.h"
#include "caisson/rest/field_text.h"

namespace caisson::rest {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kHeaderLimit = 64U << 10U;  // the connection's own, smaller limit comes first

Error Malformed(std::string cause) {
  return Error(Code::kInvalidArgument, "the request is malformed").Because(std::move(cause));
}

std::string Copy(boost::beast::string_view text) { return {text.data(), text.size()}; }

// What says where the body ends must say it once and plainly.
Status ReadFraming(RequestHead& head) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62U;
  const std::size_t lengths = head.CountOf("content-length");
  const std::size_t codings = head.CountOf("transfer-encoding");
  if (lengths + codings > 1) return Fail(Malformed("it says more than once where its body ends"));
  if (codings == 1) {
    if (!EqualText(*head.One("transfer-encoding"), "chunked"))
      return Fail(Malformed("its Transfer-Encoding is not chunked"));
    head.is_chunked = true;
  }
  if (lengths == 1) {
    const auto length = ParseCount(*head.One("content-length"), "Content-Length", 0, kMostBytes);
    if (!length) return Fail(Malformed("its Content-Length is no number"));
    head.content_length = *length;
  }
  return {};
}

}  // namespace

std::optional<std::string> RequestHead::One(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [field, value] : fields) {
    if (field != name) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

std::size_t RequestHead::CountOf(std::string_view name) const {
  std::size_t count = 0;
  for (const auto& [field, value] : fields) count += field == name ? 1 : 0;
  return count;
}

struct RequestParser::Parser {
  http::request_parser<http::string_body> beast;
};

RequestParser::RequestParser() : parser_(std::make_unique<Parser>()) {
  parser_->beast.header_limit(kHeaderLimit);
  parser_->beast.body_limit(boost::none);  // the connection counts
}

RequestParser::~RequestParser() = default;

Result<RequestHead> RequestParser::ReadHead(std::string_view text) {
  CAISSON_CHECK_OK(CheckHead(text));
  try {
    boost::beast::error_code ec;
    parser_->beast.eager(false);
    const std::size_t taken = parser_->beast.put(boost::asio::buffer(text.data(), text.size()), ec);
    if (ec) return Fail(Malformed(ec.message()));
    if (!parser_->beast.is_header_done() || taken != text.size()) return Fail(Malformed("its head has no end"));
    const auto& message = parser_->beast.get();
    RequestHead head;
    head.method = Copy(message.method_string());
    head.target = Copy(message.target());
    head.version = message.version();
    for (const auto& field : message) head.fields.emplace_back(Lower(Copy(field.name_string())), Copy(field.value()));
    head.closes = !parser_->beast.keep_alive();
    CAISSON_CHECK_OK(ReadFraming(head));
    parser_->beast.eager(true);
    return head;
  } catch (const std::exception& failure) {
    return Fail(Malformed(failure.what()));
  }
}

Result<std::size_t> RequestParser::TakeBody(std::string_view bytes) {
  try {
    boost::beast::error_code ec;
    const std::size_t taken = parser_->beast.put(boost::asio::buffer(bytes.data(), bytes.size()), ec);
    if (ec && ec != http::error::need_more) return Fail(Malformed(ec.message()));
    return taken;
  } catch (const std::exception& failure) {
    return Fail(Malformed(failure.what()));
  }
}

bool RequestParser::is_done() const { return parser_->beast.is_done(); }

std::size_t RequestParser::body_size() const { return parser_->beast.get().body().size(); }

std::string RequestParser::MoveBody() { return std::move(parser_->beast.get().body()); }

}  // namespace caisson::rest
