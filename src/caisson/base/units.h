#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "caisson/base/result.h"

namespace caisson {

// A count of bytes.
struct Bytes {
  std::uint64_t value = 0;
  auto operator<=>(const Bytes&) const = default;
};

constexpr Bytes KiB(std::uint64_t n) { return {n << 10U}; }
constexpr Bytes MiB(std::uint64_t n) { return {n << 20U}; }
constexpr Bytes GiB(std::uint64_t n) { return {n << 30U}; }

// CPU time a sandbox may use per wall second, in thousandths of a core: 2 cores are 2000.
struct MilliCpus {
  std::uint32_t value = 0;
  auto operator<=>(const MilliCpus&) const = default;
};

// "512MiB", "2GiB", "5GB", "4096": plain digits, an optional fraction with a unit, no spaces, no sign.
// Range: 1 byte to 2^62. Errors: kInvalidArgument naming `what` and the accepted form.
Result<Bytes> ParseBytes(std::string_view text, std::string_view what);

// "250ms", "30s", "10m", "2h"; an optional fraction. Range: 1 ms to 366 days.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text, std::string_view what);

// "2", "0.5". Range: 0.01 to 1024 cores.
Result<MilliCpus> ParseCpus(std::string_view text, std::string_view what);

// A decimal count without sign. Range: `low` to `high`.
Result<std::uint64_t> ParseCount(std::string_view text, std::string_view what, std::uint64_t low, std::uint64_t high);

// The shortest exact form ParseBytes reads: "2GiB", "1536MiB", "1000".
std::string FormatBytes(Bytes bytes);

// The shortest exact form ParseCpus reads: "2", "0.5".
std::string FormatCpus(MilliCpus cpus);

// The shortest exact form ParseDuration reads: "30s", "10m", "1500ms".
std::string FormatDuration(std::chrono::milliseconds duration);

}  // namespace caisson
