#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/record/chain.h"
#include "caisson/record/entry.h"

namespace caisson::audit {

// Of Ed25519. Source: RFC 8032.
using Signature = std::array<std::uint8_t, 64>;

// The last record of a sandbox at a time, signed by the node: what its files are held against. A plain value.
struct SignedHead {
  SandboxId sandbox;
  record::Head head;
  record::Time time;
  Signature signature{};

  // What is signed: the same fields, behind words that no other thing signed by the node begins with.
  std::string SignedText() const;
  // For a database: 145 bytes.
  std::string ToBytes() const;
  // What ToBytes gave, whether its signature holds or not. Errors: kInvalidArgument for anything else.
  static Result<SignedHead> FromBytes(std::string_view bytes);
};

}  // namespace caisson::audit
