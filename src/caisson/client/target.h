#pragma once

#include <string>
#include <string_view>

namespace caisson::client {

// `text` percent-encoded as one segment of a path, or as a value in a query: only unreserved characters stand for
// themselves. Source: RFC 3986, 2.3.
std::string EncodeSegment(std::string_view text);

// The same, with slashes kept.
std::string EncodePath(std::string_view text);

// "/v1/sandboxes/ID" and what follows it, already encoded.
std::string SandboxTarget(std::string_view sandbox, std::string_view rest = {});

}  // namespace caisson::client
