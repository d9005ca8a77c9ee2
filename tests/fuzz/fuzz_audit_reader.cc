// Audit records: files that somebody changed, and what a sandbox may make a record hold.
// Input: a byte. 0: a file. 1: the number of records, an operation, two places, a byte's place and what to change it
// by. 2: where a stream was cut (two bytes; 0: nowhere), tool, arguments and reason as texts, the output. Of these, a
// byte 1 stands for a secret.

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "caisson/audit/line_reader.h"
#include "caisson/base/utf8.h"
#include "caisson/record/body.h"
#include "caisson/record/limits.h"
#include "caisson/record/verifier.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::SandboxId;
using caisson::audit::LineReader;
using caisson::fuzz::Input;
using caisson::fuzz::Require;
using caisson::record::Verifier;

constexpr std::string_view kSecret = "Zq9-planted-value-7";

const SandboxId& Id() {
  static const SandboxId id = *SandboxId::Parse("sb_abcdefghijklmnopqrstuvwxyz");
  return id;
}

void ReadFile(std::string_view bytes) {
  caisson::os::Fd file(memfd_create("audit", MFD_CLOEXEC));
  Require(file.valid() && caisson::os::WriteAll(file.get(), bytes).has_value(), "a file in memory");
  lseek(file.get(), 0, SEEK_SET);
  LineReader reader(std::move(file));
  // No file of an input has this head, so that something is always wrong.
  Verifier verifier(Id(), caisson::record::Head{.seq = 1ULL << 40U, .hash = {}}, Verifier::Beginning::kAnyRecord);
  std::uint64_t lines = 0;
  while (true) {
    const auto what = reader.Next();
    Require(what.has_value(), "a file in memory can be read");
    if (*what == LineReader::What::kEnd) break;
    Require(reader.number() == ++lines, "lines are counted");
    Require(reader.text().size() <= caisson::record::kLongestLine, "a line is bounded");
    Require(reader.text().find('\n') == std::string_view::npos, "a line is one");
    if (*what == LineReader::What::kLine) verifier.Feed(reader.text());
    if (*what == LineReader::What::kTorn) verifier.FeedUnreadable(caisson::record::Fault::kTorn);
    if (*what == LineReader::What::kTooLong) verifier.FeedUnreadable(caisson::record::Fault::kTooLong);
  }
  const auto finding = verifier.End();
  Require(finding.has_value(), "a missing end is found");
  Require(finding->line <= lines || lines == 0, "what is found stands in the file");
}

void SpoilChain(Input& input) {
  const std::size_t count = 2 + input.Take<std::uint8_t>() % 8;
  std::vector<std::string> lines;
  caisson::record::Head head = caisson::record::FirstHead(Id());
  for (std::size_t i = 0; i < count; ++i) {
    auto line = MakeLine(Id(), head, {}, BodyOf({}, caisson::record::Redactor()));
    line.text.pop_back();
    lines.push_back(std::move(line.text));
    head = line.head;
  }
  const std::vector<std::string> whole = lines;
  while (!input.empty()) {
    const auto operation = input.Take<std::uint8_t>() % 5;
    if (lines.empty()) break;
    std::string& one = lines[input.Take<std::uint8_t>() % lines.size()];
    std::string& other = lines[input.Take<std::uint8_t>() % lines.size()];
    const std::size_t place = input.Take<std::uint16_t>();
    if (operation == 0 && !one.empty()) one[place % one.size()] = static_cast<char>(input.Take<std::uint8_t>());
    if (operation == 1) std::swap(one, other);
    if (operation == 2) lines.erase(lines.begin() + (&one - lines.data()));
    if (operation == 3 && lines.size() < 32) lines.insert(lines.begin() + (&one - lines.data()), std::string(other));
    if (operation == 4) lines.resize(place % (lines.size() + 1));
  }
  Verifier verifier(Id(), head, Verifier::Beginning::kFirstRecord);
  for (const std::string& line : lines) verifier.Feed(line);
  Require(verifier.End().has_value() == (lines != whole), "whatever was changed is found, and nothing else");
}

std::string WithSecret(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\1') out += kSecret;
    if (c != '\1') out += c;
  }
  return out;
}

void WriteRecord(Input& input) {
  const std::size_t cut = input.Take<std::uint16_t>();
  caisson::record::Entry entry;
  entry.tool = WithSecret(input.TakeText());
  entry.args = entry.detail = WithSecret(input.TakeText());
  const std::string reason = WithSecret(input.TakeText());
  entry.decision = caisson::record::Decision{"deny", reason, reason, reason};
  entry.hints = {reason};
  const std::string output = WithSecret(input.TakeRest());
  const std::string kept = cut == 0 ? output : output.substr(0, cut);
  entry.standard_output = {.text = kept, .size = {output.size()}, .sha256 = caisson::Sha256Of(output)};
  entry.standard_error = entry.standard_output;
  entry.files_changed = {{.path = output, .change = reason, .type = "file", .size = {}}};
  const caisson::record::Redactor redactor({{"A", std::string(kSecret)}, {"", "unused-value"}});
  const std::string line = MakeLine(Id(), caisson::record::FirstHead(Id()), {}, BodyOf(entry, redactor)).text;
  const std::string_view text = std::string_view(line).substr(0, line.size() - 1);
  Require(text.size() <= caisson::record::kLongestLine, "a record is bounded");
  Require(caisson::IsUtf8(text), "a record is UTF-8");
  for (const char c : text) Require(static_cast<unsigned char>(c) >= ' ' && c != 0x7F, "a record has no control byte");
  Require(text.find(kSecret) == std::string_view::npos, "no record holds a secret");
  const auto read = caisson::record::ReadLine(text);
  Require(std::holds_alternative<caisson::record::Line>(read), "a record is JSON with what each has");
  Require(IsUnchanged(std::get<caisson::record::Line>(read), text), "a record fits its hash");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  switch (input.Take<std::uint8_t>() % 3) {
    case 0:
      ReadFile(input.TakeRest());
      return 0;
    case 1:
      SpoilChain(input);
      return 0;
    default:
      WriteRecord(input);
      return 0;
  }
}
