#include "caisson/storage/storage_request.h"

#include <cstring>

namespace caisson::storage {
namespace {

// Zero terminated, and neither a path nor hidden.
template <std::size_t size>
bool IsPlainName(const char (&name)[size]) {
  return name[size - 1] == '\0' && name[0] != '.' && std::strchr(name, '/') == nullptr;
}

}  // namespace

std::optional<plan::StorageRequest> ReadStorageRequest(std::string_view message) {
  plan::StorageRequest request;
  if (message.size() != sizeof request) return std::nullopt;
  std::memcpy(&request, message.data(), sizeof request);
  const bool needs_name = request.verb == plan::StorageVerb::kMake || request.verb == plan::StorageVerb::kFindKept ||
                          request.verb == plan::StorageVerb::kDiscard;
  const bool is_named = request.name[0] != '\0' || !needs_name;
  if (request.verb > plan::StorageVerb::kDiscard || request.storage > plan::Storage::kBtrfs ||
      request.files > plan::Files::kKept || !is_named || !IsPlainName(request.name) || !IsPlainName(request.image)) {
    return std::nullopt;
  }
  return request;
}

}  // namespace caisson::storage
