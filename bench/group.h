#pragma once

namespace caisson::bench {

// Series that are measured in turn with each other, and how often.
enum class Group {
  kTight,   // one command, one sandbox: as often as asked, without a pause
  kQuiet,   // the same after a quiet second
  kReport,  // commands of 10 ms: as often as asked
  kLong,    // a fifteenth as often
};

}  // namespace caisson::bench
