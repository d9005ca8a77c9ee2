#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::sandbox {

// How the lines of a hunk are written. Names are the same in both.
enum class Escaping {
  kNone,         // byte for byte: for git-apply(1) and patch(1)
  kForTerminal,  // control characters other than tab and newline, bidirectional controls and bytes that are not UTF-8
                 // as \xNN or \uNNNN: for eyes only, no program gets the content back from it
};

// What the patches of all files of one report may take together, whatever the files hold. Not thread-safe.
class PatchBudget {
 public:
  struct Limits {
    Bytes output = MiB(16);
    Bytes digested = GiB(4);                              // read of contents that are not shown
    std::uint64_t comparisons = std::uint64_t{1} << 28U;  // of lines
  };
  PatchBudget() : PatchBudget(Limits{}) {}
  explicit PatchBudget(const Limits& limits) : limits_(limits), left_(limits) {}

  // False, and nothing taken, when there is not that much left.
  bool TakeOutput(Bytes bytes) { return Take(left_.output, bytes); }
  bool TakeDigested(Bytes bytes) { return Take(left_.digested, bytes); }
  std::uint64_t comparisons_left() const { return left_.comparisons; }
  void TakeComparisons(std::uint64_t count) {
    left_.comparisons -= count < left_.comparisons ? count : left_.comparisons;
  }

  // Notes a file whose patch does not fit.
  void LeaveOut(std::string_view path, Bytes patch);
  // What ends the patch: one note a file left out, at most kNamesLimit of them, then their number. Empty when nothing
  // was left out. git-apply(1) refuses a patch with it, patch(1) passes over it.
  static constexpr Bytes kNamesLimit = KiB(64);
  std::string LeftOut() const;

 private:
  static bool Take(Bytes& left, Bytes bytes) {
    if (bytes > left) return false;
    left.value -= bytes.value;
    return true;
  }

  Limits limits_;
  Limits left_;
  std::string left_out_;
  std::uint64_t unnamed_ = 0;
};

// The unified diff of one regular file in git's format, with 3 lines of context: `path` as the sandbox sees it, its
// content before and after, borrowed; an invalid descriptor means that there was or is no file. A file that became
// something else is deleted here. Of a mode only the owner's right to execute counts, as in git. Empty when nothing
// differs, and when the patch does not fit in the budget, which notes it.
//
// Content with a NUL in its first 8,000 bytes or that is not UTF-8 is binary; content of more than 1 MiB or 50,000
// lines is large. Of those: `Binary files A and B differ` or `Large files A and B differ`, and a line each with size
// and SHA-256. There is no digest beyond 1 GiB or when the budget for it is used up; then equal sizes say `may differ`.
// git-apply(1) refuses such a patch, because it could only do a part of it; patch(1) does that part.
//
// Reads with pread(2), at most 1 GiB a side; never blocks. A file that changes meanwhile gives some content between.
// Errors: kInvalidArgument when a descriptor is not a regular file; what pread says.
Result<std::string> FilePatch(std::string_view path, const os::Fd& before, const os::Fd& after, Escaping escaping,
                              PatchBudget& budget);

// The same of a symbolic link: what it pointed to and what it points to; none: there was or is no link. A target that
// is not UTF-8 is in the patch byte for byte too.
std::string LinkPatch(std::string_view path, std::optional<std::string_view> before,
                      std::optional<std::string_view> after, Escaping escaping, PatchBudget& budget);

}  // namespace caisson::sandbox
