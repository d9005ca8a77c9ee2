#include "caisson/tool/read_call.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "caisson/base/base64.h"
#include "caisson/base/nearest_name.h"
#include "caisson/base/path_text.h"
#include "caisson/base/units.h"
#include "caisson/base/utf8.h"
#include "caisson/json/object_reader.h"
#include "caisson/plan/limits.h"

namespace caisson::tool {
namespace {

using json::ObjectReader;

constexpr double kLongestSeconds = 366.0 * 24 * 3600;
constexpr std::size_t kMostArguments = 100'000;
constexpr std::size_t kLongestPath = 4095;  // PATH_MAX without the last zero
constexpr std::size_t kMostInput = MiB(1).value;
constexpr std::size_t kMostContent = MiB(1).value;
constexpr std::size_t kMostLines = 100'000;
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 53U;
constexpr std::size_t kDigestLength = 64;
constexpr std::size_t kLongestPattern = 1024;
constexpr std::uint32_t kDefaultMatches = 100;

std::string ReadPath(ObjectReader& reader) {
  const auto path = reader.Text("path", kLongestPath);
  if (!path || path->empty()) {
    reader.Refuse("path", "must be given: absolute, or relative to /home/agent/workspace");
    return "/";
  }
  return NormalPath(plan::kAgentWorkspace, *path);
}

std::optional<std::string> ReadDigest(ObjectReader& reader) {
  auto digest = reader.Text("expected_sha256", kDigestLength);
  if (digest &&
      (digest->size() != kDigestLength || digest->find_first_not_of("0123456789abcdef") != std::string::npos)) {
    reader.Refuse("expected_sha256", "must be a SHA-256 in 64 small hexadecimal digits");
  }
  return digest;
}

void ReadProgram(ObjectReader& reader, RunCommand& call) {
  call.command = reader.Text("command", plan::kLongestArgument);
  call.argv = reader.Texts("argv", kMostArguments, plan::kLongestArgument);
  if (call.command && call.command->empty()) return reader.Refuse("command", "must not be empty");
  if (call.command && !call.argv.empty()) return reader.Refuse("argv", "must not be given together with command");
  if (call.command) return;
  if (call.argv.empty() || call.argv.front().empty()) {
    reader.Refuse("command", "must be given, or else \"argv\", an array of texts that begins with a program");
  }
}

Call ReadRunCommand(ObjectReader& reader) {
  RunCommand call;
  ReadProgram(reader, call);
  call.env = reader.Pairs("env", plan::kMostVariables, plan::kLongestArgument);
  call.cwd = reader.Text("cwd", kLongestPath);
  if (call.cwd && !call.cwd->starts_with('/')) reader.Refuse("cwd", "must begin with a slash");
  if (const auto seconds = reader.Number("timeout", 0.001, kLongestSeconds)) {
    call.timeout = std::chrono::milliseconds(std::llround(*seconds * 1000));
  }
  if (auto input = reader.AnyText("stdin", kMostInput)) {
    if (input->size() > kMostInput) reader.Refuse("stdin", "must hold at most 1 MiB");
    call.stdin_bytes = *std::move(input);
  }
  call.is_background = reader.Switch("background").value_or(false);
  return call;
}

Call ReadReadFile(ObjectReader& reader) {
  ReadFile call;
  call.path = ReadPath(reader);
  call.first_line = reader.Count("offset", 1, kMostNumber).value_or(call.first_line);
  if (const auto limit = reader.Count("limit", 1, kMostLines)) call.lines = static_cast<std::uint32_t>(*limit);
  return call;
}

Call ReadWriteFile(ObjectReader& reader) {
  WriteFile call;
  call.path = ReadPath(reader);
  const auto encoding = reader.Choice("encoding", {"utf-8", "base64"});
  const bool is_base64 = encoding == 1;
  auto content = reader.AnyText("content", is_base64 ? kMostContent / 3 * 4 + 4 : kMostContent);
  if (!content) {
    reader.Refuse("content", "must be given: all of the file, which may be empty");
  } else if (is_base64) {
    auto bytes = DecodeBase64(*content);
    if (!bytes) reader.Refuse("content", "must be base64 with padding");
    content = bytes ? std::optional(*std::move(bytes)) : std::nullopt;
  }
  if (content) call.content = *std::move(content);
  if (call.content.size() > kMostContent) reader.Refuse("content", "must hold at most 1 MiB");
  constexpr std::array kChoices = {WriteFile::IfExists::kOverwrite, WriteFile::IfExists::kFail,
                                   WriteFile::IfExists::kAppend};
  if (const auto chosen = reader.Choice("if_exists", {"overwrite", "fail", "append"})) {
    call.if_exists = kChoices.at(*chosen);
  }
  call.expected_sha256 = ReadDigest(reader);
  if (call.expected_sha256 && call.if_exists == WriteFile::IfExists::kFail) {
    reader.Refuse("expected_sha256", "must not be given with if_exists \"fail\": then nothing is there");
  }
  return call;
}

Call ReadEditFile(ObjectReader& reader) {
  EditFile call;
  call.path = ReadPath(reader);
  auto old_text = reader.AnyText("old_text", kMostContent);
  auto new_text = reader.AnyText("new_text", kMostContent);
  if (!old_text || old_text->empty()) reader.Refuse("old_text", "must be given, and not be empty");
  if (!new_text) reader.Refuse("new_text", "must be given; it may be empty");
  call.old_text = std::move(old_text).value_or("");
  call.new_text = std::move(new_text).value_or("");
  if (const auto count = reader.Count("count", 1, kMostLines)) call.count = static_cast<std::uint32_t>(*count);
  call.expected_sha256 = ReadDigest(reader);
  return call;
}

Call ReadListDirectory(ObjectReader& reader) {
  ListDirectory call;
  call.path = reader.Has("path") ? ReadPath(reader) : plan::kAgentWorkspace;
  if (const auto depth = reader.Count("depth", 1, 16)) call.depth = static_cast<std::uint32_t>(*depth);
  if (const auto limit = reader.Count("limit", 1, 10'000)) call.limit = static_cast<std::uint32_t>(*limit);
  return call;
}

Call ReadSearchFiles(ObjectReader& reader) {
  SearchFiles call;
  call.search.path = reader.Has("path") ? ReadPath(reader) : plan::kAgentWorkspace;
  auto pattern = reader.Text("pattern", kLongestPattern);
  if (!pattern || pattern->empty()) reader.Refuse("pattern", "must be given: a regular expression (RE2)");
  call.search.pattern = std::move(pattern).value_or(".");
  call.search.glob = reader.Text("glob", kLongestPattern).value_or("");
  call.search.limit = static_cast<std::uint32_t>(reader.Count("limit", 1, 1000).value_or(kDefaultMatches));
  using Letters = sandbox::FileSearch::LetterCase;
  if (reader.Switch("ignore_case").value_or(false)) call.search.letters = Letters::kIgnored;
  return call;
}

struct Tool {
  const char* name;
  Call (*read)(ObjectReader&);
};
// In the order of Call.
constexpr std::array<Tool, std::variant_size_v<Call>> kTools = {{
    {"run_command", ReadRunCommand},
    {"read_file", ReadReadFile},
    {"write_file", ReadWriteFile},
    {"edit_file", ReadEditFile},
    {"list_directory", ReadListDirectory},
    {"search_files", ReadSearchFiles},
    {"list_changes", [](ObjectReader&) -> Call { return ListChanges{}; }},
    {"get_environment", [](ObjectReader&) -> Call { return GetEnvironment{}; }},
}};

Error NoSuchTool(std::string_view name) {
  std::vector<std::string> names;
  for (const Tool& tool : kTools) names.emplace_back(tool.name);
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  const auto nearest = NearestName(std::string(name), names);
  return Error(Code::kNotFound, "there is no tool " + Quoted(name))
      .Because("the tools are: " + all)
      .Remedy(nearest ? "did you mean " + Quoted(*nearest) + "?" : "name one of them");
}

}  // namespace

std::string_view NameOf(const Call& call) { return kTools.at(call.index()).name; }

Result<Call> ReadCall(std::string_view tool, std::string_view input) {
  const auto found = std::find_if(kTools.begin(), kTools.end(), [tool](const Tool& one) { return one.name == tool; });
  if (found == kTools.end()) return Fail(NoSuchTool(tool));
  std::optional<Call> call;
  CAISSON_CHECK_OK(json::ReadObject(input, [&](ObjectReader& reader) { call = found->read(reader); }));
  return *std::move(call);
}

}  // namespace caisson::tool
