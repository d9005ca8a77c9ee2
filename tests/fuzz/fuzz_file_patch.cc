// The patch of a file and of a symbolic link that a sandbox wrote: names, targets and content are its choice.
// Input: a byte of flags, the path, the first content; the rest is the second.

#include <sys/mman.h>

#include <optional>
#include <string>

#include "caisson/base/utf8.h"
#include "caisson/os/fd.h"
#include "caisson/sandbox/file_patch.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
using caisson::os::Fd;
using caisson::sandbox::Escaping;
using caisson::sandbox::PatchBudget;

enum Flag : std::uint8_t { kHasBefore = 1, kHasAfter = 2, kEscaped = 4, kLittleBudget = 8 };

Fd FileWith(std::string_view content) {
  Fd file(memfd_create("content", MFD_CLOEXEC));
  Require(file.valid() && caisson::os::WriteAll(file.get(), content).has_value(), "a file can be made");
  return file;
}

void RequireSafe(const std::string& patch) {
  Require(caisson::IsUtf8(patch), "a patch for a terminal is UTF-8");
  for (const char c : patch) {
    const auto byte = static_cast<unsigned char>(c);
    Require(c == '\n' || c == '\t' || (byte >= ' ' && byte != 0x7F), "a patch for a terminal has no control byte");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const auto flags = input.Take<std::uint8_t>();
  const std::string path(input.TakeText());
  const std::string_view before = input.TakeText();
  const std::string_view after = input.TakeRest();
  const Escaping escaping = (flags & kEscaped) != 0 ? Escaping::kForTerminal : Escaping::kNone;
  PatchBudget budget(
      (flags & kLittleBudget) != 0
          ? PatchBudget::Limits{.output = caisson::Bytes{200}, .digested = caisson::Bytes{100}, .comparisons = 10}
          : PatchBudget::Limits{});
  const auto patch = FilePatch(path, (flags & kHasBefore) != 0 ? FileWith(before) : Fd(),
                               (flags & kHasAfter) != 0 ? FileWith(after) : Fd(), escaping, budget);
  Require(patch.has_value(), "regular files have a patch");
  const std::string link = LinkPatch(path, (flags & kHasBefore) != 0 ? std::optional(before) : std::nullopt,
                                     (flags & kHasAfter) != 0 ? std::optional(after) : std::nullopt, escaping, budget);
  if (escaping == Escaping::kForTerminal) RequireSafe(*patch + link + budget.LeftOut());
  return 0;
}
