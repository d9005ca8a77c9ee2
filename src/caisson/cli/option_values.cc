#include "caisson/cli/option_values.h"

#include <algorithm>
#include <map>

#include "caisson/base/utf8.h"

namespace caisson::cli {
namespace {

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

}  // namespace

Error Refused(const std::string& source, std::string_view text, std::string why) {
  return Error(Code::kInvalidArgument, source + ": " + Quoted(text) + " is not accepted")
      .Because(std::move(why))
      .Remedy("see the command's --help");
}

Error NoChoice(const OptionValue& given, std::span<const char* const> names) {
  std::string all;
  for (const char* name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return Refused(given.source, given.text, "the accepted values are: " + all)
      .Remedy("give " + given.source + " the value " + names.front());
}

Result<plan::Limits> ReadLimits(const CommandLine& line) {
  const plan::Limits defaults;
  plan::Limits limits;
  if (const OptionValue* cpus = line.Find(Option::kCpus)) {
    CAISSON_TRY(limits.cpus, ParseCpus(cpus->text, cpus->source));
  }
  CAISSON_TRY(limits.memory, ReadBytes(line, Option::kMemory, plan::kLeastMemory, defaults.memory));
  CAISSON_TRY(limits.disk, ReadBytes(line, Option::kDisk, plan::kLeastDisk, defaults.disk));
  if (const OptionValue* pids = line.Find(Option::kPids)) {
    CAISSON_TRY(const std::uint64_t count, ParseCount(pids->text, pids->source, 1, plan::kMostPids));
    limits.pids = static_cast<std::uint32_t>(count);
  }
  return limits;
}

Result<plan::Storage> ReadStorage(const CommandLine& line, Option option, plan::Storage fallback) {
  constexpr Choice<plan::Storage> kStorages[] = {
      {"tmpfs", plan::Storage::kTmpfs}, {"btrfs", plan::Storage::kBtrfs}, {"directory", plan::Storage::kDirectory}};
  CAISSON_TRY(const plan::Storage storage, ReadChoice<plan::Storage>(line, option, kStorages, fallback));
  if (storage == plan::Storage::kDirectory && line.Find(Option::kDisk)) {
    const std::string& source = line.Find(Option::kDisk)->source;
    return Fail(Error(Code::kInvalidArgument, source + " cannot be held with --storage directory")
                    .Because("a directory has no byte limit of its own")
                    .Remedy("leave the limit out, or use --storage btrfs or tmpfs"));
  }
  return storage;
}

Result<Pairs> ReadVariables(const CommandLine& line) {
  const auto given = line.values.find(Option::kEnv);
  if (given == line.values.end()) return Pairs{};
  if (given->second.size() > plan::kMostVariables) {
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
    if (equals > plan::kLongestVariableName) {
      return Fail(Refused(value.source, value.text, "the name of a variable has at most 255 bytes"));
    }
    variables.insert_or_assign(value.text.substr(0, equals), value.text.substr(equals + 1));
  }
  return Pairs(variables.begin(), variables.end());
}

Result<std::vector<std::string>> ReadProgram(const CommandLine& line) {
  if (!line.program || line.program->empty() || line.program->front().empty()) {
    return Fail(Error(Code::kInvalidArgument, "the command to run is missing")
                    .Because(line.program && !line.program->empty() ? "its name is empty" : "nothing stands after --")
                    .Remedy(std::string("write: caisson ") + CommandOf(line.command).usage));
  }
  return *line.program;
}

Status CheckSizes(const std::vector<std::string>& argv, const Pairs& env) {
  std::size_t total = 0;
  std::size_t longest = 0;
  const auto count = [&](std::size_t length) {
    total += length + 1;
    longest = std::max(longest, length);
  };
  for (const std::string& argument : argv) count(argument.size());
  for (const auto& [name, value] : env) count(name.size() + 1 + value.size());
  if (longest > plan::kLongestArgument) {
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

}  // namespace caisson::cli
