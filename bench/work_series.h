#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/group.h"
#include "bench/promise.h"
#include "bench/work.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::bench {

enum class Place {
  kSandbox,  // /tmp of a sandbox that stays
  kNative,   // a folder of the host on the same file system
};

enum class Report { kOff, kOn };

// What a sample is.
enum class Timed {
  kCommand,  // from the start of the command to its result, the report included
  kWork,     // the processor time of the work, as bench-work says
};

// One series of file work.
struct WorkSeries {
  std::string name;
  std::string note;
  Group group = Group::kLong;
  Place place = Place::kSandbox;
  plan::Storage storage = plan::Storage::kTmpfs;  // of kNative: the file system that it lies on
  Report report = Report::kOff;
  Timed timed = Timed::kWork;
  std::uint64_t changed_before = 0;  // files that an earlier command has made, once
  std::optional<Work> before;        // done before each sample, not counted
  Work work;
};

// Every one of them, in the order of the table: in pairs that differ in one thing.
const std::vector<WorkSeries>& AllWorkSeries();

// What each pair is compared for: the report against none, inside against outside.
const std::vector<Promise>& WorkPromises();

}  // namespace caisson::bench
