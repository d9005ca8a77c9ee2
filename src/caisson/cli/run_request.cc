#include "caisson/cli/run_request.h"

#include <algorithm>

#include "caisson/base/utf8.h"

namespace caisson::cli {
namespace {

Status ReadChoices(const CommandLine& line, RunRequest& request) {
  constexpr Choice<sandbox::User> kUsers[] = {{"agent", sandbox::User::kAgent}, {"root", sandbox::User::kRoot}};
  // One network and one tier exist, so nothing follows from these but that others are refused.
  enum class Only { kOne };
  constexpr Choice<Only> kNetworks[] = {{"none", Only::kOne}};
  constexpr Choice<Only> kTiers[] = {{"auto", Only::kOne}, {"process", Only::kOne}};
  CAISSON_TRY(request.user, ReadChoice<sandbox::User>(line, Option::kUser, kUsers, request.user));
  CAISSON_TRY(request.storage, ReadStorage(line, Option::kStorage, request.storage));
  if (line.Has(Option::kKeep)) {
    request.after = After::kKeep;
    if (line.Find(Option::kStorage) == nullptr) request.storage = plan::Storage::kBtrfs;
    if (request.storage == plan::Storage::kTmpfs) {
      return Fail(Error(Code::kInvalidArgument, "--keep cannot keep what lies in memory")
                      .Because("the storage is tmpfs")
                      .Remedy("leave --storage out, or use --storage btrfs or directory"));
    }
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
  CAISSON_TRY(request.limits, ReadLimits(line));
  if (const OptionValue* timeout = line.Find(Option::kTimeout)) {
    CAISSON_TRY(request.timeout, ParseDuration(timeout->text, timeout->source));
  }
  CAISSON_CHECK_OK(ReadChoices(line, request));
  CAISSON_CHECK_OK(ReadFolders(line, request));
  CAISSON_TRY(request.env, ReadVariables(line));
  if (const OptionValue* policy = line.Find(Option::kPolicy)) request.policy = policy->text;
  CAISSON_TRY(request.argv, ReadProgram(line));
  CAISSON_CHECK_OK(CheckSizes(request.argv, request.env));
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
