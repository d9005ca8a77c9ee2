// The comparison of two files that a sandbox wrote, whatever they hold: right, and within its budget.
// Input: the budget in steps, the length of the first text, the texts.

#include <span>
#include <string>
#include <vector>

#include "caisson/sandbox/line_diff.h"
#include "caisson/sandbox/patch_text.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
using Lines = std::vector<std::string_view>;

// `before` with the changes made.
std::string Applied(const Lines& before, const Lines& after, const caisson::sandbox::LineDiff& diff) {
  std::string text;
  std::size_t at = 0;
  for (const caisson::sandbox::LineChange& change : diff.changes) {
    Require(change.before >= at && change.before + change.removed <= before.size(), "changes ascend, inside the text");
    Require(change.after + change.added <= after.size(), "what is added is there");
    for (; at < change.before; ++at) text += before[at];
    at += change.removed;
    for (std::size_t i = 0; i < change.added; ++i) text += after[change.after + i];
  }
  for (; at < before.size(); ++at) text += before[at];
  return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const std::uint64_t most = input.Take<std::uint16_t>();
  const std::string_view first = input.TakeText();
  const std::string_view second = input.TakeRest();
  const Lines before = caisson::sandbox::SplitLines(first);
  const Lines after = caisson::sandbox::SplitLines(second);
  const caisson::sandbox::LineDiff diff = caisson::sandbox::DiffLines(before, after, most);
  Require(Applied(before, after, diff) == second, "the changes turn the first text into the second");
  return 0;
}
