#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/result.h"

namespace caisson::client {

inline constexpr std::string_view kDefaultEndpoint = "unix:///run/caisson/caisson.sock";

// Where a node answers, and as whom to ask.
struct Endpoint {
  enum class Kind : std::uint8_t { kUnix, kTcp } kind = Kind::kUnix;
  std::string path;        // kUnix: of the socket, absolute
  std::string address;     // kTcp: a loopback address as text, "127.0.0.1" or "::1"
  std::uint16_t port = 0;  // kTcp
  std::string host;        // what the header Host says
  std::optional<std::string> key;

  // As a message names it; without the key.
  std::string text() const;
};

// "unix:///run/caisson/caisson.sock", "http://127.0.0.1:7777", "http://localhost:7777", "http://[::1]:7777". `source`
// is what an error names. An empty key is none. Errors: kInvalidArgument; kUnsupported for https and for an address
// that is not this host's own, since a key must not cross a network in the clear.
Result<Endpoint> ParseEndpoint(std::string_view text, std::string_view source, std::string_view key = {});

}  // namespace caisson::client
