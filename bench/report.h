#pragma once

#include <string>
#include <vector>

#include "bench/promise.h"
#include "bench/rounds.h"

namespace caisson::bench {

// The numbers for people: one line a series with its ratios, notes and reasons below, then the verdicts.
std::string FormatTable(const std::vector<Series>& series, const std::vector<Verdict>& verdicts);

// The same for programs: one object with `host`, `series` and `promises`, keys with their unit, null for what was
// not measured.
std::string FormatJson(const std::vector<Series>& series, const std::vector<Verdict>& verdicts);

}  // namespace caisson::bench
