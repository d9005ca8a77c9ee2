#include "caisson/client/endpoint.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>

#include "caisson/base/units.h"
#include "caisson/base/utf8.h"

namespace caisson::client {
namespace {

constexpr std::size_t kLongestKey = 512;

Error Refused(std::string_view text, std::string_view source, std::string why) {
  return Error(Code::kInvalidArgument, std::string(source) + ": " + Quoted(text) + " is no address of a node")
      .Because(std::move(why))
      .Remedy("write for example " + std::string(kDefaultEndpoint) + " or http://127.0.0.1:7777");
}

bool IsVisibleAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<Endpoint> ParseUnix(std::string_view text, std::string_view source, std::string_view path) {
  if (!path.starts_with('/')) return Fail(Refused(text, source, "the path of a socket is absolute"));
  if (path.find('\0') != std::string_view::npos) return Fail(Refused(text, source, "a path holds no zero byte"));
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return Fail(Refused(text, source, "the path of a socket has at most 107 bytes"));
  }
  Endpoint endpoint;
  endpoint.path = path;
  endpoint.host = "localhost";
  return endpoint;
}

bool IsLoopback(const std::string& address) {
  in_addr four{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24U) == 127;
  in6_addr six{};
  return inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

Result<Endpoint> ParseTcp(std::string_view text, std::string_view source, std::string_view authority) {
  if (authority.ends_with('/')) authority.remove_suffix(1);
  if (authority.find_first_of("/?#@") != std::string_view::npos) {
    return Fail(Refused(text, source, "only a host and a port follow http://"));
  }
  const std::size_t colon = authority.rfind(':');
  const bool is_bracketed = authority.starts_with('[');
  if (colon == std::string_view::npos || (is_bracketed && authority[colon - 1] != ']')) {
    return Fail(Refused(text, source, "the port is missing"));
  }
  Endpoint endpoint;
  endpoint.kind = Endpoint::Kind::kTcp;
  endpoint.host = authority;
  endpoint.address = authority.substr(0, colon);
  if (is_bracketed) endpoint.address = endpoint.address.substr(1, endpoint.address.size() - 2);
  if (endpoint.address == "localhost") endpoint.address = "127.0.0.1";
  CAISSON_TRY(const std::uint64_t port,
              ParseCount(authority.substr(colon + 1), std::string(source) + ": the port", 1, 65535));
  endpoint.port = static_cast<std::uint16_t>(port);
  if (!IsLoopback(endpoint.address)) {
    return Fail(Error(Code::kUnsupported, std::string(source) + ": " + Quoted(text) + " is not on this host")
                    .Because("what is said to a node over http can be read on the way, the key too")
                    .Remedy("forward its port to this host, for example with ssh -L, and use that"));
  }
  return endpoint;
}

}  // namespace

std::string Endpoint::text() const { return kind == Kind::kUnix ? "unix://" + path : "http://" + host; }

Result<Endpoint> ParseEndpoint(std::string_view text, std::string_view source, std::string_view key) {
  constexpr std::string_view kUnixScheme = "unix://";
  constexpr std::string_view kHttpScheme = "http://";
  if (key.size() > kLongestKey || !IsVisibleAscii(key)) {
    return Fail(Error(Code::kInvalidArgument, "CAISSON_KEY is no key")
                    .Because("a key has at most 512 visible ASCII characters")
                    .Remedy("set it to a key of the node, without spaces or line ends"));
  }
  Result<Endpoint> endpoint = Fail(Refused(text, source, "it begins neither with unix:// nor with http://"));
  if (text.starts_with("https://")) {
    return Fail(Error(Code::kUnsupported, std::string(source) + ": https is not supported")
                    .Because("a node answers on this host only")
                    .Remedy("write http:// and an address of this host"));
  }
  if (text.starts_with(kUnixScheme)) endpoint = ParseUnix(text, source, text.substr(kUnixScheme.size()));
  if (text.starts_with(kHttpScheme)) endpoint = ParseTcp(text, source, text.substr(kHttpScheme.size()));
  if (endpoint && !key.empty()) endpoint->key = key;
  return endpoint;
}

}  // namespace caisson::client
