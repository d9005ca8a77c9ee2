#include "caisson/rest/access.h"

#include "caisson/rest/field_text.h"

namespace caisson::rest {
namespace {

constexpr std::size_t kLongestKey = 512;

}  // namespace

KeyHash HashOf(std::string_view key) { return Sha256Of(key); }

std::optional<service::Caller> CallerOf(const std::vector<ApiKey>& keys, std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.size() <= kScheme.size() || authorization.size() > kScheme.size() + kLongestKey)
    return std::nullopt;
  if (!EqualText(authorization.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const KeyHash hash = HashOf(authorization.substr(kScheme.size()));
  const ApiKey* found = nullptr;
  for (const ApiKey& key : keys) {
    if (SameInConstantTime(key.hash, hash)) found = &key;
  }
  if (found == nullptr) return std::nullopt;
  return service::Caller{.name = found->name, .permissions = found->permissions, .face = service::Face::kRest};
}

bool IsOurHost(std::string_view host, std::uint16_t port) {
  const std::string end = ":" + std::to_string(port);
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (EqualText(host, std::string(name) + end)) return true;
  }
  return false;
}

bool IsSameOrigin(std::string_view origin, std::string_view host) {
  return EqualText(origin, "http://" + std::string(host));
}

}  // namespace caisson::rest
