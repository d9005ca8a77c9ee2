#include "bench/work.h"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "caisson/base/units.h"

namespace caisson::bench {
namespace {

constexpr std::array<std::pair<WorkKind, std::string_view>, 4> kKinds = {{
    {WorkKind::kChange, "change"},
    {WorkKind::kRemove, "remove"},
    {WorkKind::kWrite, "write"},
    {WorkKind::kRead, "read"},
}};

constexpr std::uint64_t kMostFiles = 1'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMostMicroseconds = 60'000'000;

Result<WorkKind> ParseKind(std::string_view text) {
  for (const auto& [kind, name] : kKinds) {
    if (name == text) return kind;
  }
  return Fail(Error(Code::kInvalidArgument, "there is no work " + std::string(text)));
}

std::string NameOf(WorkKind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return std::string(name);
  }
  return {};
}

}  // namespace

std::vector<std::string> FormatOrder(const WorkOrder& order) {
  const Work& work = order.work;
  return {NameOf(work.kind),          order.folder,
          std::to_string(work.files), std::to_string(work.lasts.count()),
          std::to_string(work.bytes), std::to_string(work.block_bytes)};
}

Result<WorkOrder> ParseOrder(const std::vector<std::string_view>& arguments) {
  if (arguments.size() != 6) {
    return Fail(Error(Code::kInvalidArgument, "bench-work KIND FOLDER FILES MICROSECONDS BYTES BLOCK_BYTES"));
  }
  WorkOrder order;
  CAISSON_TRY(order.work.kind, ParseKind(arguments[0]));
  order.folder = arguments[1];
  CAISSON_TRY(order.work.files, ParseCount(arguments[2], "FILES", 0, kMostFiles));
  CAISSON_TRY(const std::uint64_t lasts, ParseCount(arguments[3], "MICROSECONDS", 0, kMostMicroseconds));
  order.work.lasts = std::chrono::microseconds(lasts);
  CAISSON_TRY(order.work.bytes, ParseCount(arguments[4], "BYTES", 0, kMostBytes));
  CAISSON_TRY(order.work.block_bytes, ParseCount(arguments[5], "BLOCK_BYTES", 0, kMostBytes));
  const bool needs_blocks = order.work.kind == WorkKind::kWrite || order.work.kind == WorkKind::kRead;
  if (needs_blocks && (order.work.block_bytes == 0 || order.work.bytes % order.work.block_bytes != 0)) {
    return Fail(Error(Code::kInvalidArgument, "BYTES must be a multiple of BLOCK_BYTES"));
  }
  return order;
}

std::string FormatWorkTime(std::chrono::nanoseconds time) { return std::to_string(time.count()) + "\n"; }

Result<std::chrono::nanoseconds> ParseWorkTime(std::string_view printed) {
  if (printed.ends_with('\n')) printed.remove_suffix(1);
  std::chrono::nanoseconds::rep count = 0;
  const auto [end, error] = std::from_chars(printed.data(), printed.data() + printed.size(), count);
  if (error != std::errc() || end != printed.data() + printed.size()) {
    return Fail(Error(Code::kInternal, "bench-work printed no time").Because(std::string(printed)));
  }
  return std::chrono::nanoseconds(count);
}

}  // namespace caisson::bench
