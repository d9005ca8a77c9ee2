// What comes from inside when a command ends, and what is made of it: how it ended, its output, or what a file
// operation says it found. Input: a byte of flags, the end message, standard output; the rest is standard error.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include "caisson/base/path_text.h"
#include "caisson/base/utf8.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/outcome_line.h"
#include "caisson/sandbox/command_pump.h"
#include "caisson/sandbox/file_reply.h"
#include "caisson/sandbox/outcome.h"
#include "caisson/sandbox/search_reply.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
using caisson::os::Fd;
namespace sandbox = caisson::sandbox;

enum Flag : std::uint8_t { kLittleKept = 1 };

// A pipe with this in it, and nobody left to write more.
Fd PipeWith(std::string_view data) {
  constexpr std::size_t kHolds = 60'000;
  std::array<int, 2> ends{};
  Require(pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
  const Fd writer(ends[1]);
  Require(caisson::os::WriteAll(writer.get(), data.substr(0, kHolds)).has_value(), "a pipe can be filled");
  return Fd(ends[0]);
}

void RequireSafe(const std::string& text) {
  Require(caisson::IsUtf8(text), "a message is UTF-8");
  for (const char c : text) Require(c == '\n' || static_cast<unsigned char>(c) >= ' ', "a message has no control byte");
}

void Conclude(const caisson::proto::End& end) {
  const sandbox::Outcome outcome =
      end.signal() != 0 ? sandbox::Outcome(sandbox::Signaled{end.signal()}) : sandbox::Exited{end.exit_code()};
  const int status = sandbox::ExitStatus(outcome);
  Require(status >= 0 && status <= 255, "a status is one that exit(3) takes");
  Require(end.signal() == 0 || status > 128, "a signal is not taken for an exit");
  RequireSafe(caisson::cli::OutcomeLine(outcome, caisson::cli::RunRequest{}));
}

void RequireTree(const caisson::proto::FileReply& reply) {
  constexpr std::uint32_t kDepth = 4;
  constexpr std::uint32_t kLimit = 100;
  const auto tree = sandbox::TreeOf(reply, kDepth, kLimit);
  if (!tree) return;
  Require(tree->entries.size() <= kLimit && tree->seen >= tree->entries.size(), "a tree is no larger than asked for");
  std::set<std::string> paths;
  for (const sandbox::TreeEntry& entry : tree->entries) {
    Require(caisson::IsNormalPath("/" + entry.path), "a path of a tree stays below its folder");
    Require(std::count(entry.path.begin(), entry.path.end(), '/') < kDepth, "a tree is no deeper than asked for");
    Require(paths.insert(entry.path).second, "a path is in a tree once");
    const std::size_t slash = entry.path.rfind('/');
    Require(slash == std::string::npos || paths.contains(entry.path.substr(0, slash)),
            "a folder is before its entries");
  }
}

void RequireMatches(const caisson::proto::FileReply& reply) {
  constexpr std::uint32_t kLimit = 10;
  const auto found = sandbox::MatchesOf(reply, kLimit);
  if (!found) return;
  Require(found->matches.size() <= kLimit, "a search gives no more than asked for");
  for (const sandbox::FileMatch& match : found->matches) {
    Require(!match.path.empty() && caisson::IsNormalPath("/" + match.path),
            "the path of a match stays below its folder");
    Require(match.line > 0 && match.column > 0, "lines and columns are counted from 1");
    Require(match.text.size() <= 500 && match.text.find('\n') == std::string::npos, "a match is a part of one line");
  }
}

void ReadReply(const sandbox::CapturedOutput& output) {
  const auto reply = sandbox::ReadFileReply(output, "/tmp/asked");
  if (!reply) {
    const std::string text = caisson::cli::ErrorText(reply.error());
    RequireSafe(text);
    Require(text.size() < 2000, "an error is short whatever the guest says");
    return;
  }
  RequireTree(*reply);
  RequireMatches(*reply);
  for (const sandbox::FileEntry& entry : sandbox::EntriesOf(*reply)) {
    Require(!entry.name.empty() && entry.name != "." && entry.name != "..", "an entry has a name of its own");
    Require(entry.name.find('/') == std::string::npos, "the name of an entry is no path");
    Require(entry.mode <= 07777, "a mode is permission bits");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const auto flags = input.Take<std::uint8_t>();
  Fd end = PipeWith(input.TakeText());
  const std::string_view out = input.TakeText().substr(0, 50'000);
  const std::string_view err = input.TakeRest().substr(0, 50'000);
  const caisson::Bytes kept = (flags & kLittleKept) != 0 ? caisson::Bytes{16} : caisson::MiB(1);
  const auto stream = [&](std::string_view text) {
    return sandbox::OutputStream(PipeWith(text), -1, sandbox::OutputCapture(kept, sandbox::Spool::kDiscard, -1));
  };
  sandbox::CommandPump pump(end, sandbox::InputStream(Fd(), -1, false), stream(out), stream(err), -1);
  const auto event = pump.Run(caisson::Deadline::In(std::chrono::seconds(5)));
  if (const auto* ended = std::get_if<sandbox::CommandPump::Ended>(&event)) Conclude(ended->end);
  Require(!std::holds_alternative<sandbox::CommandPump::Expired>(event), "a pipe that closed is the end");
  pump.Finish();
  const sandbox::CapturedOutput output = pump.TakeOut();
  Require(output.total_bytes == out.size(), "nothing of the output is lost");
  Require(output.kept == out.substr(0, kept.value), "what is kept is the beginning");
  Require(pump.TakeErr().total_bytes == err.size(), "nothing of the errors is lost");
  ReadReply(output);
  return 0;
}
