#include "caisson/record/line.h"

#include <boost/json.hpp>

#include "caisson/record/hash.h"
#include "caisson/record/limits.h"

namespace caisson::record {
namespace {

namespace json = boost::json;

constexpr std::string_view kBeforeHash = ",\"hash\":\"";
constexpr std::string_view kBehindHash = "\"}";
constexpr std::string_view kDropped = "files_dropped";
constexpr std::size_t kHexLength = 64;
constexpr std::size_t kSealLength = kBeforeHash.size() + kHexLength + kBehindHash.size();

std::string_view TextOf(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

// 0 for what is no number of a record.
std::uint64_t SeqOf(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !(value->is_int64() || value->is_uint64())) return 0;
  boost::system::error_code failed;
  const auto number = value->to_number<std::uint64_t>(failed);
  return failed ? 0 : number;
}

std::optional<Head> DroppedOf(const json::object& object) {
  const json::value* value = object.if_contains("detail");
  const json::object* detail = value == nullptr ? nullptr : value->if_object();
  if (detail == nullptr || TextOf(*detail, "type") != kDropped) return std::nullopt;
  const auto hash = ReadHex(TextOf(*detail, "hash"));
  const std::uint64_t seq = SeqOf(*detail, "seq");
  if (!hash || seq == 0) return std::nullopt;
  return Head{.seq = seq, .hash = *hash};
}

}  // namespace

std::variant<Line, Fault> ReadLine(std::string_view text) {
  if (text.size() > kLongestLine) return Fault::kTooLong;
  boost::system::error_code failed;
  json::monotonic_resource memory;
  const json::value value = json::parse(text, failed, &memory);
  if (failed) return Fault::kNotJson;
  const json::object* object = value.if_object();
  if (object == nullptr) return Fault::kNotARecord;
  const auto prev = ReadHex(TextOf(*object, "prev"));
  const auto hash = ReadHex(TextOf(*object, "hash"));
  Line line;
  line.head.seq = SeqOf(*object, "seq");
  line.ts = TextOf(*object, "ts");
  line.sandbox = TextOf(*object, "sandbox");
  line.kind = TextOf(*object, "kind");
  if (!prev || !hash || line.head.seq == 0 || line.ts.empty() || line.sandbox.empty() || line.kind.empty()) {
    return Fault::kNotARecord;
  }
  line.prev = *prev;
  line.head.hash = *hash;
  line.tool = TextOf(*object, "tool");
  line.outcome = TextOf(*object, "outcome");
  if (line.kind == "gap") line.dropped = DroppedOf(*object);
  return line;
}

bool IsUnchanged(const Line& line, std::string_view text) {
  if (text.size() < kSealLength) return false;
  const std::string_view covered = text.substr(0, text.size() - kSealLength);
  if (text.substr(covered.size()) != std::string(kBeforeHash) + HexOf(line.head.hash) + std::string(kBehindHash)) {
    return false;
  }
  return HashOf(line.prev, std::string(covered) + "}") == line.head.hash;
}

std::string DroppedDetail(const Head& head) {
  return "{\"type\":\"" + std::string(kDropped) + "\",\"seq\":" + std::to_string(head.seq) + ",\"hash\":\"" +
         HexOf(head.hash) + "\"}";
}

}  // namespace caisson::record
