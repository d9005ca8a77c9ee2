#include "caisson/record/fault.h"

namespace caisson::record {

std::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kNotJson:
      return "not_json";
    case Fault::kNotARecord:
      return "not_a_record";
    case Fault::kTooLong:
      return "too_long";
    case Fault::kTorn:
      return "torn";
    case Fault::kOtherSandbox:
      return "other_sandbox";
    case Fault::kChanged:
      return "changed";
    case Fault::kRemoved:
      return "removed";
    case Fault::kAdded:
      return "added";
    case Fault::kOutOfOrder:
      return "out_of_order";
    case Fault::kCutTail:
      return "cut_tail";
    case Fault::kRecomputed:
      return "recomputed";
    case Fault::kBadSignature:
      return "bad_signature";
  }
  return "not_a_record";
}

}  // namespace caisson::record
