#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "caisson/rest/access.h"
#include "caisson/rest/limits.h"
#include "caisson/rest/reply.h"
#include "caisson/rest/request.h"
#include "caisson/rest/request_head.h"
#include "caisson/rest/router.h"

namespace caisson::rest {

// Through which door a connection came.
struct Door {
  enum class Kind : std::uint8_t { kUnix, kTcp } kind = Kind::kUnix;
  std::string peer;        // of a Unix socket: "uid N"
  std::uint16_t port = 0;  // of TCP
};

// A request that may be read on and handled.
struct Admitted {
  const Route* route = nullptr;
  Request request;  // without its body
  enum class Want : std::uint8_t { kWhole, kHeadOnly } want = Want::kWhole;
  Bytes body_limit;
};
// Every check that needs the head only, before any byte of the body is read: form, host, origin, key, route,
// permission, kind and length of the body. Pure. The reply of a refusal says why.
std::variant<Admitted, Reply> Admit(const RequestHead& head, const Door& door, const std::vector<ApiKey>& keys,
                                    std::span<const Route> routes, const ServerLimits& limits);

}  // namespace caisson::rest
