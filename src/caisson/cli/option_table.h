#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace caisson::cli {

// The one table of commands and options: parsing, help and the names a mistyped one is compared with come from it.

enum class CommandId : unsigned {
  kRun,
  kCreate,
  kExec,
  kTool,
  kTools,
  kList,
  kInspect,
  kLogs,
  kAttach,
  kPause,
  kResume,
  kStop,
  kDelete,
  kCopy,
  kDiff,
  kServe,
  kTemplate,
  kPolicy,
  kDf,
  kPrune,
  kPurge,
  kDoctor,
  kVersion,
  kHelp,
};

// What stands beside the options.
enum class Operands {
  kNone,
  kTopic,
  kMaybeName,
  kOneId,
  kIds,
  kIdAndMaybeCommand,
  kIdAndCommand,
  kIdToolAndMaybeInput,
  kTwoPaths,
  kVerbAndMaybeFile,
  kVerbAndMore
};

// Whether what follows "--" is a program for the sandbox.
enum class Program { kNone, kNeeded };

struct CommandInfo {
  CommandId id;
  const char* name;
  const char* summary;
  const char* usage;    // what follows "caisson "
  const char* example;  // whole command lines
  const char* notes;    // shown at the end of its help; may be empty
  Operands operands = Operands::kNone;
  Program program = Program::kNone;
};

enum class Option {
  kTemplate,
  kProfile,
  kPolicy,
  kAgentPolicy,
  kExecPolicy,
  kToolFormat,
  kImage,
  kWorkspace,
  kCpus,
  kMemory,
  kDisk,
  kPids,
  kTimeout,
  kExecTimeout,
  kEnv,
  kAt,
  kCwd,
  kUser,
  kNetwork,
  kTier,
  kStorage,
  kLastingStorage,
  kKeep,
  kLabel,
  kIdleTimeout,
  kMaxLifetime,
  kOnEnd,
  kTty,
  kBackground,
  kNoStdin,
  kFollow,
  kAll,
  kHost,
  kSocket,
  kListen,
  kIdleExit,
  kJson,
  kQuiet,
  kVerbose,
  kYes,
  kPatch,
  kHelp,
};

enum class Occurs { kOnce, kRepeatedly };  // of an option that occurs once, the last counts

struct OptionInfo {
  Option id;
  const char* name;     // without the dashes; of those that one command has, each once
  const char* metavar;  // nullptr: a flag
  const char* help;
  std::string default_text;  // empty: none
  const char* environment;   // nullptr: no variable sets it
  unsigned commands;         // bits 1 << CommandId
  Occurs occurs = Occurs::kOnce;

  bool AppliesTo(CommandId command) const { return (commands >> static_cast<unsigned>(command) & 1U) != 0; }
};

const std::vector<CommandInfo>& Commands();
// nullptr when there is no such command.
const CommandInfo* FindCommand(std::string_view name);
const CommandInfo& CommandOf(CommandId id);

const std::vector<OptionInfo>& Options();
const OptionInfo& OptionOf(Option id);
// The options of one command, in the table's order.
std::vector<const OptionInfo*> OptionsOf(CommandId command);

}  // namespace caisson::cli
