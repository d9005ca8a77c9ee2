#include "caisson/base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>

namespace caisson {
namespace {

constexpr std::uint64_t kMostBytes = 1ULL << 62U;
constexpr std::uint64_t kMostMilliseconds = 366ULL * 24 * 3600 * 1000;
constexpr std::uint64_t kLeastMilliCpus = 10;
constexpr std::uint64_t kMostMilliCpus = 1'024'000;

// How much of a text a message repeats.
constexpr std::size_t kQuotedLength = 64;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 13> kByteUnits = {{
    {"EiB", 1ULL << 60U},
    {"PiB", 1ULL << 50U},
    {"TiB", 1ULL << 40U},
    {"GiB", 1ULL << 30U},
    {"MiB", 1ULL << 20U},
    {"KiB", 1ULL << 10U},
    {"EB", 1'000'000'000'000'000'000ULL},
    {"PB", 1'000'000'000'000'000ULL},
    {"TB", 1'000'000'000'000ULL},
    {"GB", 1'000'000'000ULL},
    {"MB", 1'000'000ULL},
    {"kB", 1'000ULL},
    {"KB", 1'000ULL},
}};

constexpr std::array<Unit, 4> kTimeUnits = {{{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};

struct Form {
  std::string_view text;
  std::string_view example;
};

constexpr Form kByteForm = {"a size such as 512MiB, 2GiB, 5GB or plain bytes, from 1 byte to 4EiB", "2GiB"};
constexpr Form kDurationForm = {"a duration such as 250ms, 30s, 10m or 2h, from 1ms to 8784h", "30s"};
constexpr Form kCpuForm = {"a number of cores such as 2 or 0.5, from 0.01 to 1024", "0.5"};

Error NotOfForm(std::string_view text, std::string_view what, const Form& form) {
  std::string quoted(text.substr(0, kQuotedLength));
  if (text.size() > kQuotedLength) quoted += "...";
  return Error(Code::kInvalidArgument, std::string(what) + ": '" + quoted + "' is not accepted")
      .Because("it is not " + std::string(form.text))
      .Remedy("give " + std::string(what) + " a value such as " + std::string(form.example));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::uint64_t> ParseDigits(std::string_view digits) {
  std::uint64_t value = 0;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// `number` ("1", "1.5") times `factor`, when that is exactly a whole number that fits in 64 bits.
std::optional<std::uint64_t> Multiply(std::string_view number, std::uint64_t factor) {
  const std::size_t point = number.find('.');
  const std::optional<std::uint64_t> whole = ParseDigits(number.substr(0, point));
  std::uint64_t product = 0;
  if (!whole || __builtin_mul_overflow(*whole, factor, &product)) return std::nullopt;
  if (point == std::string_view::npos) return product;

  std::string_view digits = number.substr(point + 1);
  if (digits.empty()) return std::nullopt;
  while (digits.size() > 1 && digits.back() == '0') digits.remove_suffix(1);
  const std::optional<std::uint64_t> fraction = ParseDigits(digits);
  constexpr std::size_t kMostDigits = 18;  // so that 10 to their power fits
  if (!fraction || digits.size() > kMostDigits) return std::nullopt;
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
  // fraction * factor / scale, reduced first so that nothing overflows.
  const std::uint64_t common = std::gcd(scale, factor);
  if (*fraction % (scale / common) != 0) return std::nullopt;
  const std::uint64_t part = *fraction / (scale / common) * (factor / common);
  if (__builtin_add_overflow(product, part, &product)) return std::nullopt;
  return product;
}

std::optional<std::uint64_t> MultiplyByUnit(std::string_view text, const Unit* begin, const Unit* end) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view name = text.substr(length);
  const Unit* unit = std::find_if(begin, end, [&](const Unit& candidate) { return candidate.name == name; });
  if (unit == end) return std::nullopt;
  return Multiply(text.substr(0, length), unit->factor);
}

}  // namespace

Result<Bytes> ParseBytes(std::string_view text, std::string_view what) {
  std::optional<std::uint64_t> value = ParseDigits(text);
  if (!value) value = MultiplyByUnit(text, kByteUnits.begin(), kByteUnits.end());
  if (!value || *value < 1 || *value > kMostBytes) return Fail(NotOfForm(text, what, kByteForm));
  return Bytes{*value};
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text, std::string_view what) {
  const std::optional<std::uint64_t> value = MultiplyByUnit(text, kTimeUnits.begin(), kTimeUnits.end());
  if (!value || *value < 1 || *value > kMostMilliseconds) return Fail(NotOfForm(text, what, kDurationForm));
  return std::chrono::milliseconds(*value);
}

Result<MilliCpus> ParseCpus(std::string_view text, std::string_view what) {
  const std::optional<std::uint64_t> value = Multiply(text, 1000);
  if (!value || *value < kLeastMilliCpus || *value > kMostMilliCpus) return Fail(NotOfForm(text, what, kCpuForm));
  return MilliCpus{static_cast<std::uint32_t>(*value)};
}

Result<std::uint64_t> ParseCount(std::string_view text, std::string_view what, std::uint64_t low, std::uint64_t high) {
  const std::optional<std::uint64_t> value = ParseDigits(text);
  if (!value || *value < low || *value > high) {
    const std::string form = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    const std::string example = std::to_string(std::clamp<std::uint64_t>(64, low, high));
    return Fail(NotOfForm(text, what, {form, example}));
  }
  return *value;
}

std::string FormatBytes(Bytes bytes) {
  for (const Unit& unit : kByteUnits) {
    const bool binary = unit.name.size() == 3;
    if (binary && bytes.value >= unit.factor && bytes.value % unit.factor == 0) {
      return std::to_string(bytes.value / unit.factor) + std::string(unit.name);
    }
  }
  return std::to_string(bytes.value);
}

std::string FormatCpus(MilliCpus cpus) {
  std::string text = std::to_string(cpus.value / 1000);
  if (cpus.value % 1000 == 0) return text;
  std::string fraction = std::to_string(1000 + cpus.value % 1000).substr(1);
  while (fraction.back() == '0') fraction.pop_back();
  return text + "." + fraction;
}

std::string FormatDuration(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  if (count % 3'600'000 == 0) return std::to_string(count / 3'600'000) + "h";
  if (count % 60'000 == 0) return std::to_string(count / 60'000) + "m";
  if (count % 1000 == 0) return std::to_string(count / 1000) + "s";
  return std::to_string(count) + "ms";
}

}  // namespace caisson
