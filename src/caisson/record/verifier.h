#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/id.h"
#include "caisson/record/chain.h"
#include "caisson/record/fault.h"
#include "caisson/record/line.h"

namespace caisson::record {

// The first wrong line, and how. `line`: from 1, over all that was fed; that of the last line when the end is wrong, 0
// when nothing was fed.
struct Finding {
  std::uint64_t line = 0;
  Fault fault = Fault::kChanged;
  std::string why;
};

// Follows the chain of one sandbox line by line, in constant memory. What a person changed shows without a key; a
// chain that was made again from some line on, or cut off behind, shows against a head that was signed.
//
//   Verifier verifier(sandbox, head, Verifier::Beginning::kFirstRecord);
//   while (...) verifier.Feed(line);
//   const std::optional<Finding> finding = verifier.End();
class Verifier {
 public:
  enum class Beginning {
    kFirstRecord,  // the first line is the sandbox's first record
    kAnyRecord,    // files before it were dropped, which a later record must say
  };

  // `head`: what was signed; there may be later records.
  Verifier(SandboxId sandbox, std::optional<Head> head, Beginning beginning);

  // A line without its newline.
  void Feed(std::string_view text);
  // In place of a line that could not be read: kTooLong, kTorn.
  void FeedUnreadable(Fault fault) { FeedFault(fault); }
  // True when further lines change nothing.
  bool decided() const { return finding_.has_value(); }
  // Once, after the last line. Nothing: all is well.
  std::optional<Finding> End();

  std::uint64_t lines() const { return lines_; }
  std::uint64_t first_seq() const { return first_.seq + 1; }
  const Head& last() const { return last_; }

 private:
  void FeedFault(Fault fault);
  void Accept(const Line& line);
  void Misplaced(const Line& line);
  void CheckHead(const Head& here);
  std::optional<Finding> FindingAtEnd() const;
  void Find(std::uint64_t line, Fault fault, std::string why);

  SandboxId sandbox_;
  std::optional<Head> expected_;
  Beginning beginning_;
  std::uint64_t lines_ = 0;
  Head first_;                  // before the first line
  std::optional<Head> before_;  // before the last line that fitted
  Head last_;
  bool head_was_met_ = false;
  bool beginning_is_known_ = true;
  std::optional<Finding> missing_;  // records are missing here, unless they come later
  std::optional<Finding> finding_;
};

}  // namespace caisson::record
