#include "caisson/sandbox/file_patch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "caisson/base/sha256.h"
#include "caisson/base/utf8.h"
#include "caisson/sandbox/line_diff.h"
#include "caisson/sandbox/patch_text.h"

namespace caisson::sandbox {
namespace {

constexpr std::size_t kTextLimit = std::size_t{1} << 20U;
constexpr std::size_t kLineLimit = 50'000;
constexpr std::size_t kBinaryProbe = 8'000;
constexpr Bytes kDigestLimit = GiB(1);
constexpr std::size_t kContext = 3;
constexpr std::uint64_t kComparisonsOfAFile = std::uint64_t{1} << 26U;
constexpr std::string_view kNoFile = "/dev/null";

enum class Kind { kText, kLarge, kBinary };  // ascending: of two the greater says what to do with both

// One side of a patch. Without `mode` there is nothing on that side, and it is an empty text.
struct Content {
  std::string_view mode;  // as git writes it
  Kind kind = Kind::kText;
  std::string text;  // of a text the whole
};

// What is told of content that is not shown.
struct Digest {
  Bytes size;
  std::string sha256;  // hexadecimal; empty: not read to its end
};

Result<struct stat> StatRegular(const os::Fd& file) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return Fail(Error::FromErrno(errno, "cannot examine a changed file"));
  if (!S_ISREG(status.st_mode)) return Fail(Error(Code::kInvalidArgument, "a patch is of regular files only"));
  return status;
}

Result<std::size_t> ReadAt(const os::Fd& file, std::span<char> buffer, std::uint64_t offset) {
  for (;;) {
    const ssize_t count = pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return Fail(Error::FromErrno(errno, "cannot read a changed file"));
  }
}

Kind KindOf(std::string_view text) {
  if (text.substr(0, kBinaryProbe).find('\0') != std::string_view::npos) return Kind::kBinary;
  if (text.size() > kTextLimit || SplitLines(text).size() > kLineLimit) return Kind::kLarge;
  return IsUtf8(text) ? Kind::kText : Kind::kBinary;
}

Result<Content> Load(const os::Fd& file) {
  if (!file.valid()) return Content{};
  CAISSON_TRY(const struct stat status, StatRegular(file));
  // One byte more than a text may have, to know whether there is more.
  std::string text(kTextLimit + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    CAISSON_TRY(const std::size_t count, ReadAt(file, std::span(text).subspan(size), size));
    if (count == 0) break;
    size += count;
  }
  text.resize(size);
  const Kind kind = KindOf(text);
  const bool executable = (status.st_mode & S_IXUSR) != 0;
  return Content{.mode = executable ? "100755" : "100644", .kind = kind, .text = std::move(text)};
}

Result<Digest> DigestOf(const os::Fd& file, PatchBudget& budget) {
  CAISSON_TRY(const struct stat status, StatRegular(file));
  Digest digest{.size = {static_cast<std::uint64_t>(status.st_size)}, .sha256 = {}};
  if (digest.size > kDigestLimit || !budget.TakeDigested(digest.size)) return digest;

  Sha256Sum sum;
  std::vector<char> block(std::size_t{256} << 10U);
  std::uint64_t offset = 0;
  while (offset < digest.size.value) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), digest.size.value - offset));
    CAISSON_TRY(const std::size_t count, ReadAt(file, std::span(block).first(wanted), offset));
    if (count == 0) break;  // it shrinks while we read
    sum.Add({block.data(), count});
    offset += count;
  }
  digest.size.value = offset;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::uint8_t byte : sum.Finish()) (digest.sha256 += kDigits[byte >> 4U]) += kDigits[byte & 0xFU];
  return digest;
}

std::string DigestLine(std::string_view side, const os::Fd& file, const Digest& digest) {
  std::string line = std::string(side) + ": ";
  if (!file.valid()) return line + "no file\n";
  line += std::to_string(digest.size.value) + " bytes";
  return line + (digest.sha256.empty() ? ", no digest\n" : ", sha256 " + digest.sha256 + "\n");
}

std::string GitLine(std::string_view path) {
  return "diff --git " + PatchName("a", path) + " " + PatchName("b", path) + "\n";
}

// A tab ends a name with spaces, which programs else take for the end.
std::string NameLine(std::string_view sign, std::string_view name) {
  return std::string(sign) + " " + std::string(name) + (name.find(' ') == std::string_view::npos ? "\n" : "\t\n");
}

// Begins a note in place of a patch. Names without a hunk make git refuse it and patch(1) pass over it. A line with a
// mode would be done by both, without the rest.
std::string NoteBegin(std::string_view path) {
  return GitLine(path) + NameLine("---", PatchName("a", path)) + NameLine("+++", PatchName("b", path));
}

// Says of two contents that are not shown what can be said.
Result<std::string> DescribeDifference(std::string_view path, Kind kind, const os::Fd& before, const os::Fd& after,
                                       PatchBudget& budget) {
  Digest old_digest;
  Digest new_digest;
  if (before.valid()) {
    CAISSON_TRY(old_digest, DigestOf(before, budget));
  }
  if (after.valid()) {
    CAISSON_TRY(new_digest, DigestOf(after, budget));
  }
  const bool unknown = before.valid() && after.valid() && old_digest.size == new_digest.size &&
                       (old_digest.sha256.empty() || new_digest.sha256.empty());
  const bool equal = before.valid() && after.valid() && !unknown && old_digest.size == new_digest.size &&
                     old_digest.sha256 == new_digest.sha256;
  if (equal) return std::string();

  std::string out = NoteBegin(path) + (kind == Kind::kBinary ? "Binary" : "Large") + " files ";
  out += before.valid() ? PatchName("a", path) : kNoFile;
  out += " and ";
  out += after.valid() ? PatchName("b", path) : kNoFile;
  out += unknown ? " may differ\n" : " differ\n";
  return out + DigestLine("before", before, old_digest) + DigestLine("after", after, new_digest);
}

std::string ModeLines(const Content& before, const Content& after) {
  const auto line = [](std::string_view what, std::string_view mode) {
    return std::string(what) + " " + std::string(mode) + "\n";
  };
  if (before.mode.empty()) return line("new file mode", after.mode);
  if (after.mode.empty()) return line("deleted file mode", before.mode);
  // Of a link always: without it a reader takes it for a file.
  if (before.mode == after.mode && before.mode != "120000") return {};
  return line("old mode", before.mode) + line("new mode", after.mode);
}

// Writes the hunks of a diff.
class HunkWriter {
 public:
  HunkWriter(std::span<const std::string_view> before, std::span<const std::string_view> after, Escaping escaping,
             std::string& out)
      : before_(before), after_(after), escaping_(escaping), out_(out) {}

  void Write(std::span<const LineChange> changes) {
    while (!changes.empty()) {
      std::size_t count = 1;
      while (count < changes.size() && Gap(changes[count - 1], changes[count]) <= 2 * kContext) ++count;
      WriteHunk(changes.first(count));
      changes = changes.subspan(count);
    }
  }

 private:
  static std::size_t Gap(const LineChange& first, const LineChange& second) {
    return second.before - (first.before + first.removed);
  }

  // Changes whose contexts touch.
  void WriteHunk(std::span<const LineChange> changes) {
    const LineChange& last = changes.back();
    const std::size_t above = std::min(kContext, changes.front().before);
    const std::size_t below = std::min(kContext, before_.size() - (last.before + last.removed));
    const std::size_t begin = changes.front().before - above;
    const std::size_t end = last.before + last.removed + below;
    const std::size_t after_begin = changes.front().after - above;
    const std::size_t after_end = last.after + last.added + below;
    out_ += "@@ -" + Range(begin, end) + " +" + Range(after_begin, after_end) + " @@\n";
    std::size_t at = begin;
    for (const LineChange& change : changes) {
      WriteLines(' ', before_.subspan(at, change.before - at));
      WriteLines('-', before_.subspan(change.before, change.removed));
      WriteLines('+', after_.subspan(change.after, change.added));
      at = change.before + change.removed;
    }
    WriteLines(' ', before_.subspan(at, end - at));
  }

  // Line numbers count from 1; an empty range names the line above it.
  static std::string Range(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    const std::string first = std::to_string(count == 0 ? begin : begin + 1);
    return count == 1 ? first : first + "," + std::to_string(count);
  }

  void WriteLines(char sign, std::span<const std::string_view> lines) {
    for (const std::string_view line : lines) {
      out_ += sign;
      if (escaping_ == Escaping::kForTerminal) {
        AppendForTerminal(out_, line);
      } else {
        out_ += line;
      }
      if (line.back() != '\n') out_ += "\n\\ No newline at end of file\n";
    }
  }

  std::span<const std::string_view> before_;
  std::span<const std::string_view> after_;
  Escaping escaping_;
  std::string& out_;
};

std::string TextPatch(std::string_view path, const Content& before, const Content& after, Escaping escaping,
                      PatchBudget& budget) {
  if (before.mode == after.mode && before.text == after.text) return {};
  std::string out = GitLine(path) + ModeLines(before, after);
  if (before.text == after.text) return out;
  out += NameLine("---", before.mode.empty() ? std::string(kNoFile) : PatchName("a", path));
  out += NameLine("+++", after.mode.empty() ? std::string(kNoFile) : PatchName("b", path));
  const std::vector<std::string_view> old_lines = SplitLines(before.text);
  const std::vector<std::string_view> new_lines = SplitLines(after.text);
  const LineDiff diff = DiffLines(old_lines, new_lines, std::min(kComparisonsOfAFile, budget.comparisons_left()));
  budget.TakeComparisons(diff.steps);
  HunkWriter(old_lines, new_lines, escaping, out).Write(diff.changes);
  return out;
}

// `patch`, or nothing when it does not fit.
std::string WithinBudget(std::string_view path, std::string patch, PatchBudget& budget) {
  const Bytes size{patch.size()};
  if (budget.TakeOutput(size)) return patch;
  budget.LeaveOut(path, size);
  return {};
}

}  // namespace

void PatchBudget::LeaveOut(std::string_view path, Bytes patch) {
  const std::string note = NoteBegin(path) + "Left out: " + std::to_string(patch.value) +
                           " bytes, more than what is left of " + FormatBytes(limits_.output) + " for all files\n";
  if (unnamed_ == 0 && left_out_.size() + note.size() <= kNamesLimit.value) {
    left_out_ += note;
  } else {
    ++unnamed_;
  }
}

std::string PatchBudget::LeftOut() const {
  if (unnamed_ == 0) return left_out_;
  return left_out_ + "Left out: " + std::to_string(unnamed_) + " more files\n";
}

Result<std::string> FilePatch(std::string_view path, const os::Fd& before, const os::Fd& after, Escaping escaping,
                              PatchBudget& budget) {
  CAISSON_TRY(const Content old_content, Load(before));
  CAISSON_TRY(const Content new_content, Load(after));
  const Kind kind = std::max(old_content.kind, new_content.kind);
  if (kind == Kind::kText) {
    return WithinBudget(path, TextPatch(path, old_content, new_content, escaping, budget), budget);
  }
  CAISSON_TRY(std::string description, DescribeDifference(path, kind, before, after, budget));
  // Equal contents may still differ in mode.
  if (description.empty() && old_content.mode != new_content.mode) {
    description = GitLine(path) + ModeLines(old_content, new_content);
  }
  return WithinBudget(path, std::move(description), budget);
}

std::string LinkPatch(std::string_view path, std::optional<std::string_view> before,
                      std::optional<std::string_view> after, Escaping escaping, PatchBudget& budget) {
  const auto content = [](std::optional<std::string_view> target) {
    return target ? Content{.mode = "120000", .kind = Kind::kText, .text = std::string(*target)} : Content{};
  };
  return WithinBudget(path, TextPatch(path, content(before), content(after), escaping, budget), budget);
}

}  // namespace caisson::sandbox
