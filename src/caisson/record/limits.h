#pragma once

#include <cstddef>

namespace caisson::record {

// What one record may take, in bytes as written, so escaped. Their sum stays below kLongestLine.
inline constexpr std::size_t kLongestLine = 128UL << 10U;  // without its newline
inline constexpr std::size_t kMostArgs = 16UL << 10U;
inline constexpr std::size_t kMostStream = 4UL << 10U;
inline constexpr std::size_t kMostDetail = 4UL << 10U;
inline constexpr std::size_t kMostName = 256;
inline constexpr std::size_t kMostReason = 1024;
inline constexpr std::size_t kMostPath = 1024;
inline constexpr std::size_t kMostPathBytes = 64UL << 10U;  // of all changed files
inline constexpr std::size_t kMostFiles = 200;
inline constexpr std::size_t kMostHints = 32;

// How much of a text is looked at for secrets to fill a bound: what they are replaced by is mostly shorter.
inline constexpr std::size_t kWindowFactor = 2;
inline constexpr std::size_t kStreamWindow = kWindowFactor * kMostStream;
// Longer arguments are not taken apart: their beginning is kept as text.
inline constexpr std::size_t kLongestParsedArgs = 256UL << 10U;

}  // namespace caisson::record
