#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "bench/group.h"
#include "bench/statistics.h"
#include "bench/variant.h"

namespace caisson::bench {

// The measurements of one variant under one regime, and its place in the report.
struct Series {
  std::string name;
  Group group = Group::kTight;
  std::string_view note;
  std::string skipped;         // why it was not measured; empty: it was
  Variant* variant = nullptr;  // borrowed; null when skipped
  Samples samples;
};

// Takes one sample of every series a round, in an order that is shuffled (from a fixed seed) each round: the machine's
// drift, and the cleaning up that the kernel does behind a variant's back, then burden all of them alike.
// `pause` is slept before each sample. One more round goes before the first and is not counted.
void RunInterleaved(std::vector<Series*> series, int rounds, std::chrono::milliseconds pause);

}  // namespace caisson::bench
