#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "caisson/audit/signed_head.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::audit {

using PublicKey = std::array<std::uint8_t, 32>;

// The node's key of Ed25519 (RFC 8032, through libsodium), which signs heads of audit records. Move-only; its memory is
// wiped. Safe for concurrent use once made.
class NodeKey {
 public:
  // The key in the file `name` of `folder`, which is made with a new key when there is none; of several that make it
  // at once, all get the same. The file holds 32 bytes, mode 0600. Errors: kPermissionDenied when others may read it,
  // kInvalidArgument when it is no regular file of this size, and those of the system calls.
  static Result<NodeKey> LoadOrMake(const os::Fd& folder, const std::string& name);

  NodeKey(NodeKey&& other) noexcept;
  NodeKey& operator=(NodeKey&&) = delete;
  NodeKey(const NodeKey&) = delete;
  NodeKey& operator=(const NodeKey&) = delete;
  ~NodeKey();

  const PublicKey& public_key() const { return public_; }
  SignedHead Sign(const SandboxId& sandbox, const record::Head& head, record::Time time) const;

 private:
  using Seed = std::array<std::uint8_t, 32>;
  explicit NodeKey(Seed& seed);  // wipes the seed

  std::array<std::uint8_t, 64> secret_{};
  PublicKey public_{};
};

// True when the node with this key signed the head.
bool IsSignedBy(const SignedHead& head, const PublicKey& key);

}  // namespace caisson::audit
