#include "caisson/cli/create_request.h"

#include <algorithm>

#include "caisson/base/utf8.h"
#include "caisson/cli/option_values.h"

namespace caisson::cli {
namespace {

constexpr std::size_t kLongestName = 63;
constexpr std::size_t kLongestLabel = 255;  // each of its two parts
constexpr std::size_t kMostLabels = 64;

bool IsName(std::string_view text) {
  const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), is_allowed) &&
         text.front() != '-' && text.back() != '-';
}

Status ReadLabels(const CommandLine& line, client::CreateRequest& request) {
  const auto given = line.values.find(Option::kLabel);
  if (given == line.values.end()) return {};
  for (const OptionValue& value : given->second) {
    const std::size_t equals = value.text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(Refused(value.source, value.text, "expected KEY=VALUE").Remedy("write for example --label team=a"));
    }
    if (equals > kLongestLabel || value.text.size() - equals - 1 > kLongestLabel) {
      return Fail(Refused(value.source, value.text, "the key and the value of a label have at most 255 bytes each"));
    }
    request.labels.insert_or_assign(value.text.substr(0, equals), value.text.substr(equals + 1));
  }
  if (request.labels.size() > kMostLabels) {
    return Fail(Error(Code::kInvalidArgument, "more than 64 labels are given with --label")
                    .Because("a sandbox has at most 64")
                    .Remedy("leave some out"));
  }
  return {};
}

Status ReadTimes(const CommandLine& line, client::CreateRequest& request) {
  request.command_timeout = sandbox::CommandSpec{}.timeout;
  if (const OptionValue* timeout = line.Find(Option::kTimeout)) {
    CAISSON_TRY(request.command_timeout, ParseDuration(timeout->text, timeout->source));
  }
  if (const OptionValue* idle = line.Find(Option::kIdleTimeout)) {
    CAISSON_TRY(request.idle_timeout, ParseDuration(idle->text, idle->source));
  }
  if (const OptionValue* lifetime = line.Find(Option::kMaxLifetime)) {
    CAISSON_TRY(request.max_lifetime, ParseDuration(lifetime->text, lifetime->source));
  }
  if (const OptionValue* on_end = line.Find(Option::kOnEnd)) {
    if (on_end->text != "delete" && on_end->text != "keep") {
      return Fail(Refused(on_end->source, on_end->text, "expected delete or keep"));
    }
    request.on_end = on_end->text;
  }
  return {};
}

Status ReadLimitsAndStorage(const CommandLine& line, client::CreateRequest& request) {
  CAISSON_TRY(const plan::Limits limits, ReadLimits(line));
  CAISSON_TRY(const plan::Storage storage, ReadStorage(line, Option::kLastingStorage, plan::Storage::kBtrfs));
  request.cpus = limits.cpus;
  request.memory = limits.memory;
  request.pids = limits.pids;
  // A folder has no limit of its own, so none is asked for.
  if (storage != plan::Storage::kDirectory) request.disk = limits.disk;
  request.storage = storage == plan::Storage::kBtrfs   ? "btrfs"
                    : storage == plan::Storage::kTmpfs ? "tmpfs"
                                                       : "directory";
  return {};
}

Status ReadFolders(const CommandLine& line, CreateOptions& options) {
  if (const OptionValue* image = line.Find(Option::kImage)) {
    if (image->text.empty()) return Fail(Refused(image->source, image->text, "expected host or a directory"));
    if (image->text != "host") options.image_directory = image->text;
  }
  if (const OptionValue* workspace = line.Find(Option::kWorkspace)) {
    CAISSON_TRY(options.workspace, ParseWorkspace(*workspace));
    options.request.workspace_mode = options.workspace->mode == plan::WorkspaceMode::kReadWrite  ? "rw"
                                     : options.workspace->mode == plan::WorkspaceMode::kReadOnly ? "ro"
                                                                                                 : "copy";
  }
  return {};
}

}  // namespace

// Of a file the name may hold anything, and be long: its end says most.
std::string ShownSource(const std::string& source) {
  constexpr std::size_t kMost = 255;
  std::string shown = Printable(source);
  if (shown.size() <= kMost) return shown;
  std::size_t from = shown.size() - kMost + 3;
  while (from < shown.size() && (static_cast<unsigned char>(shown[from]) & 0xC0U) == 0x80) ++from;
  return "..." + shown.substr(from);
}

std::map<std::string, std::string> SourcesOf(const CommandLine& line) {
  constexpr std::pair<Option, const char*> kFields[] = {{Option::kImage, "image"},
                                                        {Option::kWorkspace, "workspace"},
                                                        {Option::kCpus, "cpus"},
                                                        {Option::kMemory, "memory_bytes"},
                                                        {Option::kDisk, "disk_bytes"},
                                                        {Option::kPids, "pids"},
                                                        {Option::kTimeout, "command_timeout_ms"},
                                                        {Option::kLastingStorage, "storage"},
                                                        {Option::kEnv, "env"},
                                                        {Option::kOnEnd, "on_end"},
                                                        {Option::kIdleTimeout, "idle_timeout_ms"},
                                                        {Option::kMaxLifetime, "max_lifetime_ms"},
                                                        {Option::kAgentPolicy, "policy"}};
  std::map<std::string, std::string> sources;
  for (const auto& [option, field] : kFields) {
    const OptionValue* value = line.Find(option);
    sources[field] = value == nullptr ? "default" : ShownSource(value->source);
  }
  return sources;
}

Result<CreateOptions> ReadCreateOptions(const CommandLine& line) {
  CreateOptions options;
  if (!line.operands.empty()) {
    const std::string& name = line.operands.front();
    if (!IsName(name)) {
      return Fail(Error(Code::kInvalidArgument, Quoted(name) + " is no name for a sandbox")
                      .Because("a name has 1 to 63 of the characters a-z, 0-9 and -, and begins and ends without -")
                      .Remedy("choose another, or leave it out"));
    }
    options.request.name = name;
  }
  CAISSON_CHECK_OK(ReadLabels(line, options.request));
  CAISSON_CHECK_OK(ReadLimitsAndStorage(line, options.request));
  CAISSON_CHECK_OK(ReadTimes(line, options.request));
  CAISSON_CHECK_OK(ReadFolders(line, options));
  CAISSON_TRY(options.request.env, ReadVariables(line));
  CAISSON_CHECK_OK(CheckSizes({}, options.request.env));
  options.request.sources = SourcesOf(line);
  return options;
}

}  // namespace caisson::cli
