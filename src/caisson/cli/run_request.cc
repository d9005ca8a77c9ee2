#include "caisson/cli/run_request.h"

#include <algorithm>
#include <span>

#include "caisson/base/utf8.h"

namespace caisson::cli {
namespace {

constexpr Bytes kLeastMemory = MiB(4);
constexpr Bytes kLeastDisk = MiB(1);
constexpr std::uint64_t kMostPids = 4'194'304;  // the kernel's own limit, PID_MAX_LIMIT

Error Refused(const std::string& source, std::string_view text, std::string why) {
  return Error(Code::kInvalidArgument, source + ": " + Quoted(text) + " is not accepted")
      .Because(std::move(why))
      .Remedy("see `caisson run --help`");
}

template <typename Value>
struct Choice {
  const char* name;
  Value value;
};

// The value that an option's text names, or `fallback` when it was not given.
template <typename Value>
Result<Value> ReadChoice(const CommandLine& line, Option option, std::span<const Choice<Value>> choices,
                         Value fallback) {
  const OptionValue* given = line.Find(option);
  if (given == nullptr) return fallback;
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (given->text == choice.name) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  return Fail(Refused(given->source, given->text, "the accepted values are: " + names)
                  .Remedy("give " + given->source + " the value " + choices.front().name));
}

Result<Bytes> ReadBytes(const CommandLine& line, Option option, Bytes least, Bytes fallback) {
  const OptionValue* given = line.Find(option);
  if (given == nullptr) return fallback;
  CAISSON_TRY(const Bytes bytes, ParseBytes(given->text, given->source));
  if (bytes < least) {
    return Fail(Refused(given->source, given->text, "the range is from " + FormatBytes(least) + " to 4EiB")
                    .Remedy("give " + given->source + " a value such as " + FormatBytes(fallback)));
  }
  return bytes;
}

Status ReadLimits(const CommandLine& line, RunRequest& request) {
  const plan::Limits defaults;
  if (const OptionValue* cpus = line.Find(Option::kCpus)) {
    CAISSON_TRY(request.limits.cpus, ParseCpus(cpus->text, cpus->source));
  }
  CAISSON_TRY(request.limits.memory, ReadBytes(line, Option::kMemory, kLeastMemory, defaults.memory));
  CAISSON_TRY(request.limits.disk, ReadBytes(line, Option::kDisk, kLeastDisk, defaults.disk));
  if (const OptionValue* pids = line.Find(Option::kPids)) {
    CAISSON_TRY(const std::uint64_t count, ParseCount(pids->text, pids->source, 1, kMostPids));
    request.limits.pids = static_cast<std::uint32_t>(count);
  }
  if (const OptionValue* timeout = line.Find(Option::kTimeout)) {
    CAISSON_TRY(request.timeout, ParseDuration(timeout->text, timeout->source));
  }
  return {};
}

Status ReadChoices(const CommandLine& line, RunRequest& request) {
  constexpr Choice<sandbox::User> kUsers[] = {{"agent", sandbox::User::kAgent}, {"root", sandbox::User::kRoot}};
  constexpr Choice<plan::Storage> kStorages[] = {
      {"tmpfs", plan::Storage::kTmpfs}, {"btrfs", plan::Storage::kBtrfs}, {"directory", plan::Storage::kDirectory}};
  // One network and one tier exist, so nothing follows from these but that others are refused.
  enum class Only { kOne };
  constexpr Choice<Only> kNetworks[] = {{"none", Only::kOne}};
  constexpr Choice<Only> kTiers[] = {{"auto", Only::kOne}, {"process", Only::kOne}};
  CAISSON_TRY(request.user, ReadChoice<sandbox::User>(line, Option::kUser, kUsers, request.user));
  CAISSON_TRY(request.storage, ReadChoice<plan::Storage>(line, Option::kStorage, kStorages, request.storage));
  if (line.Has(Option::kKeep)) {
    request.after = After::kKeep;
    if (line.Find(Option::kStorage) == nullptr) request.storage = plan::Storage::kBtrfs;
    if (request.storage == plan::Storage::kTmpfs) {
      return Fail(Error(Code::kInvalidArgument, "--keep cannot keep what lies in memory")
                      .Because("the storage is tmpfs")
                      .Remedy("leave --storage out, or use --storage btrfs or directory"));
    }
  }
  if (request.storage == plan::Storage::kDirectory && line.Find(Option::kDisk)) {
    return Fail(Error(Code::kInvalidArgument, "--disk cannot be held with --storage directory")
                    .Because("a directory has no byte limit of its own")
                    .Remedy("leave --disk out, or use --storage btrfs or tmpfs"));
  }
  if (auto network = ReadChoice<Only>(line, Option::kNetwork, kNetworks, Only::kOne); !network) {
    return Fail(std::move(network).error());
  }
  if (auto tier = ReadChoice<Only>(line, Option::kTier, kTiers, Only::kOne); !tier) {
    return Fail(std::move(tier).error());
  }
  return {};
}

Status ReadFolders(const CommandLine& line, RunRequest& request) {
  if (const OptionValue* image = line.Find(Option::kImage)) {
    if (image->text.empty()) return Fail(Refused(image->source, image->text, "expected host or a directory"));
    if (image->text != "host") request.image_directory = image->text;
  }
  if (const OptionValue* workspace = line.Find(Option::kWorkspace)) {
    CAISSON_TRY(request.workspace, ParseWorkspace(*workspace));
  }
  return {};
}

Status ReadEnv(const CommandLine& line, RunRequest& request) {
  const auto given = line.values.find(Option::kEnv);
  if (given == line.values.end()) return {};
  if (given->second.size() > kMostVariables) {
    return Fail(Error(Code::kInvalidArgument, "more than 10000 variables are given with --env")
                    .Because("that many do not fit a command's environment")
                    .Remedy("put them into a file of the workspace"));
  }
  std::map<std::string, std::string> variables;
  for (const OptionValue& value : given->second) {
    const std::size_t equals = value.text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(Refused(value.source, value.text, "expected NAME=VALUE; variables of the host are never taken over")
                      .Remedy("write for example --env LANG=C"));
    }
    if (equals > kLongestVariableName) {
      return Fail(Refused(value.source, value.text, "the name of a variable has at most 255 bytes"));
    }
    variables.insert_or_assign(value.text.substr(0, equals), value.text.substr(equals + 1));
  }
  request.env.assign(variables.begin(), variables.end());
  return {};
}

Status ReadProgram(const CommandLine& line, RunRequest& request) {
  if (!line.program || line.program->empty() || line.program->front().empty()) {
    return Fail(Error(Code::kInvalidArgument, "the command to run is missing")
                    .Because(line.program && !line.program->empty() ? "its name is empty" : "nothing stands after --")
                    .Remedy("write: caisson run [OPTIONS] -- COMMAND [ARGUMENT...]"));
  }
  request.argv = *line.program;
  return {};
}

Status CheckSizes(const RunRequest& request) {
  std::size_t total = 0;
  std::size_t longest = 0;
  const auto count = [&](std::size_t length) {
    total += length + 1;
    longest = std::max(longest, length);
  };
  for (const std::string& argument : request.argv) count(argument.size());
  for (const auto& [name, value] : request.env) count(name.size() + 1 + value.size());
  if (longest > kLongestArgument) {
    return Fail(Error(Code::kInvalidArgument, "an argument or variable is longer than 131071 bytes")
                    .Because("the kernel takes none that is longer")
                    .Remedy("give it on stdin or in a file of the workspace"));
  }
  if (total > kMostArgumentBytes) {
    return Fail(Error(Code::kInvalidArgument, "arguments and variables are longer than 1MiB together")
                    .Because("a command takes no more")
                    .Remedy("give them on stdin or in a file of the workspace"));
  }
  return {};
}

Status ReadFlags(const CommandLine& line, RunRequest& request) {
  if (line.Has(Option::kQuiet) && line.Has(Option::kVerbose)) {
    return Fail(Error(Code::kInvalidArgument, "--quiet and --verbose exclude each other")
                    .Because("one leaves out what the other adds")
                    .Remedy("leave one out"));
  }
  if (line.Has(Option::kTty) && line.Has(Option::kJson)) {
    return Fail(Error(Code::kInvalidArgument, "--tty and --json exclude each other")
                    .Because("--json captures the output that --tty shows")
                    .Remedy("leave one out"));
  }
  if (line.Has(Option::kQuiet)) request.notices = Notices::kQuiet;
  if (line.Has(Option::kVerbose)) request.notices = Notices::kVerbose;
  if (line.Has(Option::kTty)) request.terminal = Terminal::kTty;
  if (line.Has(Option::kJson)) request.output = Output::kJson;
  return {};
}

}  // namespace

Result<WorkspaceFolder> ParseWorkspace(const OptionValue& value) {
  constexpr Choice<plan::WorkspaceMode> kModes[] = {{"copy", plan::WorkspaceMode::kCopy},
                                                    {"rw", plan::WorkspaceMode::kReadWrite},
                                                    {"ro", plan::WorkspaceMode::kReadOnly}};
  WorkspaceFolder folder{value.text, plan::WorkspaceMode::kCopy};
  const std::size_t colon = value.text.rfind(':');
  if (colon != std::string::npos && value.text.find('/', colon) == std::string::npos) {
    const std::string suffix = value.text.substr(colon + 1);
    const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                    [&](const Choice<plan::WorkspaceMode>& choice) { return suffix == choice.name; });
    if (mode == std::end(kModes)) {
      return Fail(Refused(value.source, value.text, Quoted(suffix) + " is not a mode; the modes are: copy, rw, ro")
                      .Remedy("write DIR:copy, DIR:rw or DIR:ro, also for a folder whose name holds a colon"));
    }
    folder = {value.text.substr(0, colon), mode->value};
  }
  if (folder.path.empty()) return Fail(Refused(value.source, value.text, "the folder is missing"));
  return folder;
}

Result<RunRequest> ReadRunRequest(const CommandLine& line) {
  RunRequest request;
  CAISSON_CHECK_OK(ReadFlags(line, request));
  CAISSON_CHECK_OK(ReadLimits(line, request));
  CAISSON_CHECK_OK(ReadChoices(line, request));
  CAISSON_CHECK_OK(ReadFolders(line, request));
  CAISSON_CHECK_OK(ReadEnv(line, request));
  CAISSON_CHECK_OK(ReadProgram(line, request));
  CAISSON_CHECK_OK(CheckSizes(request));
  return request;
}

std::vector<std::string> DescribeValues(const CommandLine& line) {
  std::vector<std::string> lines;
  for (const OptionInfo* info : OptionsOf(line.command)) {
    // The values of variables may be secrets.
    if (info->metavar == nullptr || info->id == Option::kEnv) continue;
    if (const OptionValue* given = line.Find(info->id)) {
      lines.push_back(std::string(info->name) + " " + given->text + " (" + given->source + ")");
    } else if (!info->default_text.empty()) {
      lines.push_back(std::string(info->name) + " " + info->default_text + " (default)");
    }
  }
  return lines;
}

}  // namespace caisson::cli
