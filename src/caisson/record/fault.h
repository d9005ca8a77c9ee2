#pragma once

#include <string_view>

namespace caisson::record {

// What is wrong with a line of an audit file, or with the whole.
enum class Fault {
  kNotJson,
  kNotARecord,    // JSON without what every record has
  kTooLong,       // over limits.h's kLongestLine
  kTorn,          // the last line has no end: a write was interrupted
  kOtherSandbox,  // a record of another sandbox
  kChanged,       // its content does not fit its hash, or its hash not the next record
  kRemoved,       // records are missing before this line
  kAdded,         // it has no place in the chain
  kOutOfOrder,    // it stands before a record that it follows
  kCutTail,       // the last records are missing
  kRecomputed,    // the chain is whole but is not the one that was signed
  kBadSignature,  // the head was not signed by this key
};

// "changed", "cut_tail": stable, for machines.
std::string_view FaultName(Fault fault);

}  // namespace caisson::record
