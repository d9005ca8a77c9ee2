#include "caisson/record/verifier.h"

#include <utility>

namespace caisson::record {
namespace {

std::string Missing(std::uint64_t first, std::uint64_t last) {
  if (first == last) return "record " + std::to_string(first) + " is missing";
  return "records " + std::to_string(first) + " to " + std::to_string(last) + " are missing";
}

const char* Reason(Fault fault) {
  switch (fault) {
    case Fault::kNotJson:
      return "the line is not JSON";
    case Fault::kTooLong:
      return "the line is longer than any record";
    case Fault::kTorn:
      return "the line has no end: its writing was interrupted";
    default:
      return "the line lacks what every record has";
  }
}

}  // namespace

Verifier::Verifier(SandboxId sandbox, std::optional<Head> head, Beginning beginning)
    : sandbox_(std::move(sandbox)), expected_(head), beginning_(beginning), first_(FirstHead(sandbox_)), last_(first_) {
  if (beginning_ == Beginning::kFirstRecord) CheckHead(last_);
}

void Verifier::Find(std::uint64_t line, Fault fault, std::string why) {
  if (!finding_) finding_ = Finding{.line = line, .fault = fault, .why = std::move(why)};
}

void Verifier::FeedFault(Fault fault) {
  ++lines_;
  if (!missing_) Find(lines_, fault, Reason(fault));
}

void Verifier::Feed(std::string_view text) {
  if (decided()) return;
  const auto read = ReadLine(text);
  if (const Fault* fault = std::get_if<Fault>(&read)) return FeedFault(*fault);
  ++lines_;
  const Line& line = std::get<Line>(read);
  const bool is_next = line.head.seq == last_.seq + 1 && line.prev == last_.hash;
  if (missing_) {
    // One that was found missing comes after all: what stood in its place stands too early.
    if (is_next && IsUnchanged(line, text)) {
      const std::string seq = std::to_string(line.head.seq);
      Find(missing_->line, Fault::kOutOfOrder, "it stands before record " + seq + ", which it follows");
    }
    return;
  }
  if (line.sandbox != sandbox_.text()) return Find(lines_, Fault::kOtherSandbox, "it is a record of another sandbox");
  if (!IsUnchanged(line, text)) return Find(lines_, Fault::kChanged, "its content does not fit its hash");
  if (lines_ == 1 && beginning_ == Beginning::kAnyRecord && !is_next) {
    first_ = last_ = Head{.seq = line.head.seq - 1, .hash = line.prev};
    beginning_is_known_ = false;
    CheckHead(last_);
    return Accept(line);
  }
  if (is_next) return Accept(line);
  Misplaced(line);
}

void Verifier::Accept(const Line& line) {
  before_ = std::exchange(last_, line.head);
  CheckHead(last_);
  if (line.dropped && *line.dropped == first_) beginning_is_known_ = true;
}

void Verifier::CheckHead(const Head& here) {
  if (!expected_ || here.seq != expected_->seq) return;
  head_was_met_ = true;
  if (here.hash == expected_->hash) return;
  Find(lines_, Fault::kRecomputed, "record " + std::to_string(here.seq) + " is not the one that was signed");
}

void Verifier::Misplaced(const Line& line) {
  if (before_ && line.prev == before_->hash && line.head != last_) {
    return Find(lines_ - 1, Fault::kAdded, "it and the line behind it follow the same record");
  }
  if (line.head.seq <= last_.seq) return Find(lines_, Fault::kAdded, "its number was there before");
  if (line.head.seq == last_.seq + 1) {
    return Find(lines_, Fault::kChanged, "it does not follow the line before it, of which the hash was made again");
  }
  missing_ = Finding{.line = lines_, .fault = Fault::kRemoved, .why = Missing(last_.seq + 1, line.head.seq - 1)};
}

std::optional<Finding> Verifier::FindingAtEnd() const {
  if (!beginning_is_known_) {
    return Finding{.line = 1,
                   .fault = Fault::kRemoved,
                   .why = Missing(1, first_.seq) + ", and no record says that they were dropped"};
  }
  if (!expected_ || head_was_met_) return std::nullopt;
  if (last_.seq < expected_->seq) {
    return Finding{.line = lines_, .fault = Fault::kCutTail, .why = Missing(last_.seq + 1, expected_->seq)};
  }
  return Finding{.line = 1, .fault = Fault::kRemoved, .why = "the record that was signed is missing"};
}

std::optional<Finding> Verifier::End() {
  if (!finding_) finding_ = missing_ ? missing_ : FindingAtEnd();
  return finding_;
}

}  // namespace caisson::record
