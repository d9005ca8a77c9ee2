#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/sha256.h"
#include "caisson/service/caller.h"

namespace caisson::rest {

using KeyHash = Sha256;

KeyHash HashOf(std::string_view key);

// Who may come over TCP. The key itself is stored nowhere.
struct ApiKey {
  std::string name;  // what records show
  KeyHash hash = {};
  service::Permission permissions = service::Permission::kNone;
};

// Finds the key of a field `Authorization: Bearer KEY`. Takes the same time whichever key it is and however much of one
// is right. Nothing for another scheme, an unknown key, or one of more than 512 bytes.
std::optional<service::Caller> CallerOf(const std::vector<ApiKey>& keys, std::string_view authorization);

// Whether `host` is a name of this server on the loopback interface at `port`: 127.0.0.1, localhost or [::1]. Anything
// else comes from a page whose name was made to point here (DNS rebinding).
bool IsOurHost(std::string_view host, std::uint16_t port);

// Whether `origin` is the one that a page of this server itself has.
bool IsSameOrigin(std::string_view origin, std::string_view host);

}  // namespace caisson::rest
