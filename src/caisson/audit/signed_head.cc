#include "caisson/audit/signed_head.h"

#include <algorithm>

namespace caisson::audit {
namespace {

constexpr std::string_view kMark = "CAH1";
constexpr std::string_view kPurpose = "caisson audit head 1\n";
constexpr std::size_t kNumberLength = 8;
constexpr std::size_t kLength =
    kMark.size() + SandboxId::kLength + 2 * kNumberLength + sizeof(Sha256) + sizeof(Signature);

void Append(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> static_cast<unsigned>(shift));
}

std::uint64_t Number(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

std::string Fields(const SignedHead& head) {
  std::string fields = head.sandbox.text();
  Append(fields, head.head.seq);
  Append(fields, static_cast<std::uint64_t>(head.time.time_since_epoch().count()));
  fields.append(head.head.hash.begin(), head.head.hash.end());
  return fields;
}

}  // namespace

std::string SignedHead::SignedText() const { return std::string(kPurpose) + Fields(*this); }

std::string SignedHead::ToBytes() const {
  std::string bytes = std::string(kMark) + Fields(*this);
  bytes.append(signature.begin(), signature.end());
  return bytes;
}

Result<SignedHead> SignedHead::FromBytes(std::string_view bytes) {
  const auto take = [&bytes](std::size_t count) {
    const std::string_view part = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return part;
  };
  if (bytes.size() != kLength || take(kMark.size()) != kMark) {
    return Fail(Error(Code::kInvalidArgument, "this is no signed head of an audit record"));
  }
  CAISSON_TRY(SandboxId sandbox, SandboxId::Parse(take(SandboxId::kLength)));
  SignedHead head{.sandbox = std::move(sandbox), .head = {}, .time = {}};
  head.head.seq = Number(take(kNumberLength));
  head.time = record::Time(std::chrono::milliseconds(static_cast<std::int64_t>(Number(take(kNumberLength)))));
  const auto copy = [](std::string_view from, auto& to) {
    std::transform(from.begin(), from.end(), to.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  };
  copy(take(sizeof(Sha256)), head.head.hash);
  copy(take(sizeof(Signature)), head.signature);
  return head;
}

}  // namespace caisson::audit
