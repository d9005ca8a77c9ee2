#include "caisson/rest/reply.h"

#include <array>
#include <boost/json.hpp>
#include <cstdio>

#include "caisson/wire/json_text.h"

namespace caisson::rest {
namespace {

struct Phrase {
  int status;
  std::string_view words;
};
constexpr std::array kPhrases = {Phrase{200, "OK"},
                                 Phrase{201, "Created"},
                                 Phrase{204, "No Content"},
                                 Phrase{206, "Partial Content"},
                                 Phrase{400, "Bad Request"},
                                 Phrase{401, "Unauthorized"},
                                 Phrase{403, "Forbidden"},
                                 Phrase{404, "Not Found"},
                                 Phrase{405, "Method Not Allowed"},
                                 Phrase{406, "Not Acceptable"},
                                 Phrase{408, "Request Timeout"},
                                 Phrase{409, "Conflict"},
                                 Phrase{413, "Content Too Large"},
                                 Phrase{414, "URI Too Long"},
                                 Phrase{415, "Unsupported Media Type"},
                                 Phrase{416, "Range Not Satisfiable"},
                                 Phrase{417, "Expectation Failed"},
                                 Phrase{421, "Misdirected Request"},
                                 Phrase{429, "Too Many Requests"},
                                 Phrase{431, "Request Header Fields Too Large"},
                                 Phrase{500, "Internal Server Error"},
                                 Phrase{501, "Not Implemented"},
                                 Phrase{503, "Service Unavailable"},
                                 Phrase{504, "Gateway Timeout"},
                                 Phrase{505, "HTTP Version Not Supported"}};

void AppendField(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) {
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7F) out += c;
  }
  out += "\r\n";
}

}  // namespace

Reply JsonReply(int status, const boost::json::value& value) {
  return {.status = status, .content_type = "application/json", .fields = {}, .body = wire::JsonLine(value)};
}

std::string_view ReasonPhrase(int status) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.status == status) return phrase.words;
  }
  return "Unknown";
}

std::string HeadText(const Reply& reply, std::optional<std::uint64_t> length, AfterReply after) {
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " ";
  out.append(ReasonPhrase(reply.status)).append("\r\n");
  AppendField(out, "Server", "caisson");
  if (!reply.content_type.empty()) AppendField(out, "Content-Type", reply.content_type);
  AppendField(out, "X-Content-Type-Options", "nosniff");
  AppendField(out, "Cache-Control", "no-store");
  for (const auto& [name, value] : reply.fields) AppendField(out, name, value);
  if (after == AfterReply::kClose) AppendField(out, "Connection", "close");
  if (!length) {
    AppendField(out, "Transfer-Encoding", "chunked");
  } else if (reply.status != 204) {
    AppendField(out, "Content-Length", std::to_string(*length));
  }
  out += "\r\n";
  return out;
}

std::string ChunkHead(std::uint64_t size) {
  std::array<char, 20> text{};
  const int digits = std::snprintf(text.data(), text.size(), "%llx\r\n", static_cast<unsigned long long>(size));
  return {text.data(), static_cast<std::size_t>(digits)};
}

std::string ChunkText(std::string_view bytes) {
  std::string out = ChunkHead(bytes.size());
  out.append(bytes).append("\r\n");
  return out;
}

}  // namespace caisson::rest
