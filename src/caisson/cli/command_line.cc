#include "caisson/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "caisson/base/nearest_name.h"
#include "caisson/base/utf8.h"

namespace caisson::cli {
namespace {

using Arguments = std::vector<std::string>;

// The error about `given`, with the nearest of the known names when there is one.
Error Unknown(const std::string& kind, const std::string& given, const Arguments& known, const std::string& see) {
  const std::optional<std::string> nearest = NearestName(given, known);
  Error error = Error(Code::kInvalidArgument, "unknown " + kind + " " + Quoted(given));
  if (!nearest) return std::move(error).Because("no known one is like it").Remedy("see `" + see + "`");
  return std::move(error)
      .Because("the nearest known one is " + *nearest)
      .Remedy("write " + *nearest + ", or see `" + see + "`")
      .Detail("nearest", *nearest);
}

std::string HelpOf(CommandId command) { return "caisson " + std::string(CommandOf(command).name) + " --help"; }

Error UnknownOption(CommandId command, const std::string& given) {
  Arguments known;
  for (const OptionInfo* info : OptionsOf(command)) known.push_back("--" + std::string(info->name));
  return Unknown("option", given.substr(0, given.find('=')), known, HelpOf(command));
}

Error UnknownCommand(const std::string& given) {
  Arguments known;
  for (const CommandInfo& info : Commands()) known.emplace_back(info.name);
  return Unknown("command", given, known, "caisson help");
}

// What the option parser refused: a value that lacks ("--memory: 1 required ..."), or one that a flag was given ("json
// was given ...").
Error Misused(CommandId command, const std::string& explanation) {
  const std::string name = explanation.substr(0, explanation.find_first_of(": "));
  for (const OptionInfo* info : OptionsOf(command)) {
    const std::string option = "--" + std::string(info->name);
    if (name != option && name != info->name) continue;
    if (info->metavar == nullptr) {
      return Error(Code::kInvalidArgument, option + " takes no value")
          .Because("it is a switch: given or not")
          .Remedy("write " + option + " alone");
    }
    return Error(Code::kInvalidArgument, option + " needs a value")
        .Because("none follows it")
        .Remedy("write " + option + " " + info->metavar + "; see `" + HelpOf(command) + "`");
  }
  return Error(Code::kInvalidArgument, "the options cannot be read")
      .Because(explanation)
      .Remedy("see `" + HelpOf(command) + "`");
}

Error Unexpected(CommandId command, const std::string& argument, bool has_program) {
  Error error(Code::kInvalidArgument, "unexpected argument " + Quoted(argument));
  if (CommandOf(command).program == Program::kNone)
    return std::move(error).Because("it takes none").Remedy("see `" + HelpOf(command) + "`");
  if (has_program) {
    return std::move(error).Because("only options stand before --").Remedy("see `" + HelpOf(command) + "`");
  }
  return std::move(error)
      .Because("the command to run stands after --")
      .Remedy("write: caisson " + std::string(CommandOf(command).name) + (command == CommandId::kRun ? "" : " ID") +
              " [OPTIONS] -- " + Printable(argument.substr(0, 64)) + " ...");
}

struct OperandCount {
  std::size_t least = 0;
  std::size_t most = 0;
};

OperandCount CountOf(Operands operands) {
  switch (operands) {
    case Operands::kNone:
      return {0, 0};
    case Operands::kTopic:
    case Operands::kMaybeName:
      return {0, 1};
    case Operands::kOneId:
      return {1, 1};
    case Operands::kIds:
      return {1, std::numeric_limits<std::size_t>::max()};
    case Operands::kIdAndMaybeCommand:
    case Operands::kVerbAndMaybeFile:
      return {1, 2};
    case Operands::kVerbAndMore:
      return {1, std::numeric_limits<std::size_t>::max()};
    case Operands::kIdAndCommand:
    case Operands::kTwoPaths:
      return {2, 2};
    case Operands::kIdToolAndMaybeInput:
      return {2, 3};
  }
  return {};
}

// Too few operands.
Error Lacking(CommandId command, std::size_t given) {
  const CommandInfo& info = CommandOf(command);
  const std::string name = info.name;
  const std::string none = given == 0 ? "none was given" : "one was given";
  if (info.operands == Operands::kTwoPaths) {
    return Error(Code::kInvalidArgument, name + " needs a source and a destination")
        .Because(none)
        .Remedy("see `" + HelpOf(command) + "`");
  }
  if (info.operands == Operands::kVerbAndMaybeFile || info.operands == Operands::kVerbAndMore) {
    return Error(Code::kInvalidArgument, name + " needs to be told what to do")
        .Because(none)
        .Remedy("write: caisson " + std::string(info.usage));
  }
  if (info.operands == Operands::kIdToolAndMaybeInput) {
    return Error(Code::kInvalidArgument, name + " needs the id of a sandbox and the name of a tool")
        .Because(none)
        .Remedy("write: caisson " + std::string(info.usage));
  }
  if (given > 0) {
    return Error(Code::kInvalidArgument, name + " needs the id of a command")
        .Because("only that of a sandbox was given")
        .Remedy("`caisson inspect` names the commands of a sandbox");
  }
  return Error(Code::kInvalidArgument, name + " needs the id of a sandbox")
      .Because(none)
      .Remedy("`caisson list` and `caisson df` name them; see `" + HelpOf(command) + "`");
}

// Fills `line.values`; returns what is neither an option nor a value. The option parser reports by exception.
Result<Arguments> ParseOptions(const Arguments& arguments, CommandLine& line) try {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<Option, CLI::Option*> parsed;
  for (const OptionInfo* info : OptionsOf(line.command)) {
    const std::string name = (info->id == Option::kHelp ? "-h,--" : "--") + std::string(info->name);
    CLI::Option* option = info->metavar != nullptr ? app.add_option(name) : app.add_flag(name)->disable_flag_override();
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    parsed[info->id] = option;
  }
  app.parse(Arguments(arguments.rbegin(), arguments.rend()));  // takes the last one first

  for (const auto& [id, option] : parsed) {
    for (const std::string& text : option->results()) {
      line.values[id].push_back({text, "--" + std::string(OptionOf(id).name)});
    }
  }
  return app.remaining();
} catch (const CLI::ParseError& error) {
  return Fail(Misused(line.command, error.what()));
}

void AddEnvironment(const Environment& environment, CommandLine& line) {
  for (const OptionInfo* info : OptionsOf(line.command)) {
    if (info->environment == nullptr || line.Has(info->id)) continue;
    const char* text = environment(info->environment);
    if (text != nullptr && *text != '\0') line.values[info->id].push_back({text, info->environment});
  }
}

Status TakePositionals(Arguments rest, CommandLine& line) {
  // An option is the more telling of two mistakes.
  const auto option = std::find_if(rest.begin(), rest.end(), [](const auto& text) { return text.starts_with('-'); });
  if (option != rest.end()) return Fail(UnknownOption(line.command, *option));
  const Operands operands = CommandOf(line.command).operands;
  if (operands == Operands::kTopic && !rest.empty() && FindCommand(rest.front()) == nullptr) {
    return Fail(UnknownCommand(rest.front()));
  }
  const OperandCount count = CountOf(operands);
  if (rest.size() < count.least) return Fail(Lacking(line.command, rest.size()));
  const std::size_t taken = std::min(rest.size(), count.most);
  const auto end = rest.begin() + static_cast<std::ptrdiff_t>(taken);
  line.operands.assign(rest.begin(), end);
  if (std::find(line.operands.begin(), line.operands.end(), "") != line.operands.end()) {
    return Fail(Error(Code::kInvalidArgument, "an argument is empty")
                    .Because("an empty one names nothing")
                    .Remedy("see `" + HelpOf(line.command) + "`"));
  }
  rest.erase(rest.begin(), end);
  if (!rest.empty()) return Fail(Unexpected(line.command, rest.front(), line.program.has_value()));
  return {};
}

}  // namespace

const OptionValue* CommandLine::Find(Option option) const {
  const auto found = values.find(option);
  return found == values.end() ? nullptr : &found->second.back();
}

Result<CommandLine> ParseCommandLine(const Arguments& arguments, const Environment& environment) {
  const std::string& first = arguments.front();
  CommandLine line;
  if (first == "--help" || first == "-h") return line;
  if (first == "--version") {
    line.command = CommandId::kVersion;
    return line;
  }
  const CommandInfo* command = FindCommand(first);
  if (command == nullptr && first.starts_with('-')) {
    return Fail(Unknown("option", first, {"--help", "--version"}, "caisson help"));
  }
  if (command == nullptr) return Fail(UnknownCommand(first));
  line.command = command->id;

  const auto begin = arguments.begin() + 1;
  const auto separator = std::find(begin, arguments.end(), "--");
  if (separator != arguments.end()) line.program = Arguments(separator + 1, arguments.end());
  CAISSON_TRY(Arguments rest, ParseOptions(Arguments(begin, separator), line));
  if (line.Has(Option::kHelp)) return line;
  CAISSON_CHECK_OK(TakePositionals(std::move(rest), line));
  if (line.program && command->operands == Operands::kVerbAndMore) {
    line.operands.insert(line.operands.end(), line.program->begin(), line.program->end());
    line.program.reset();
  }
  if (line.program && command->program == Program::kNone) return Fail(Unexpected(line.command, "--", true));
  AddEnvironment(environment, line);
  return line;
}

bool AsksForJson(const Arguments& arguments) {
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), separator, "--json") != separator;
}

}  // namespace caisson::cli
