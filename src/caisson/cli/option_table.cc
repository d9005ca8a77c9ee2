#include "caisson/cli/option_table.h"

#include <algorithm>

#include "caisson/cli/quantity.h"
#include "caisson/plan/limits.h"
#include "caisson/sandbox/command.h"

namespace caisson::cli {
namespace {

constexpr unsigned For(CommandId id) { return 1U << static_cast<unsigned>(id); }

constexpr unsigned kRunOnly = For(CommandId::kRun);
constexpr unsigned kPrintsData = For(CommandId::kRun) | For(CommandId::kDiff) | For(CommandId::kDelete) |
                                 For(CommandId::kDf) | For(CommandId::kPrune) | For(CommandId::kPurge) |
                                 For(CommandId::kDoctor) | For(CommandId::kVersion);
constexpr unsigned kEvery = kPrintsData | For(CommandId::kHelp);

constexpr const char* kRunExample =
    "  caisson run -- python3 -c 'print(6 * 7)'\n"
    "  caisson run --workspace . --memory 512MiB --timeout 2m -- make test\n"
    "  caisson run --json -- ls -l\n"
    "  caisson run --tty -- bash\n"
    "  caisson run --keep --workspace . -- make\n";

constexpr const char* kRunNotes =
    "Exit status: the command's own; 128+N when signal N ended it; 124 timed out; 125 Caisson failed or was used\n"
    "wrongly, and nothing ran; 126 not executable; 127 not found; 130 cancelled; 137 out of memory.\n"
    "The first Ctrl-C goes to the command, the second ends the sandbox.\n";

constexpr const char* kDiffNotes =
    "What differs from the image and, in the workspace, from what its folder held when the sandbox was made. ID may\n"
    "be the beginning of an id. With --patch a unified diff of files and links, for git apply or patch; of what is\n"
    "not text, sizes and SHA-256. Exit status: 0, or 3 when it cannot be said.\n";

constexpr const char* kPruneNotes =
    "Left-overs are writable layers and cgroups of processes that were killed, and images of older host settings.\n"
    "Nothing that a sandbox uses is taken. Exit status: 0, or 3 when a left-over could not be removed.\n";

constexpr const char* kPurgeNotes =
    "Without --yes it says what it would remove and removes nothing. It never asks. Cgroups, mounts, the data\n"
    "folder and the runtime folder go; the next `caisson run` makes them again. Exit status: 0 removed, or nothing\n"
    "was there; 1 something is there and --yes was not given; 3 a sandbox lives, or something could not be removed.\n";

std::vector<CommandInfo> MakeCommands() {
  return {
      {CommandId::kRun, "run", "Run one command in a fresh sandbox, which is destroyed after it",
       "run [OPTIONS] -- COMMAND [ARGUMENT...]", kRunExample, kRunNotes},
      {CommandId::kDiff, "diff", "Say what is different in a sandbox that was kept", "diff [OPTIONS] ID",
       "  caisson diff sb_4f\n  caisson diff --patch sb_4f > changes.patch\n", kDiffNotes, Operands::kOneId},
      {CommandId::kDelete, "delete", "Remove sandboxes that were kept", "delete [OPTIONS] ID...",
       "  caisson delete sb_4f\n", "Exit status: 0, or 3 when one could not be removed.\n", Operands::kIds},
      {CommandId::kDf, "df", "Say what Caisson keeps on this host and what it takes", "df [OPTIONS]",
       "  caisson df\n  caisson df --json\n", "Exit status: 0, or 3 when it cannot be said.\n"},
      {CommandId::kPrune, "prune", "Remove what nothing needs any more, and say what and how much", "prune [OPTIONS]",
       "  caisson prune\n  caisson prune --json\n", kPruneNotes},
      {CommandId::kPurge, "purge", "Remove everything Caisson made on this host", "purge [OPTIONS]",
       "  caisson purge\n  caisson purge --yes\n", kPurgeNotes},
      {CommandId::kDoctor, "doctor", "Say what this host can do, what it lacks and how to fix it", "doctor [OPTIONS]",
       "  caisson doctor\n  caisson doctor --json\n",
       "Exit status: 0 when `caisson run` can work, 1 when it cannot.\n"},
      {CommandId::kVersion, "version", "Print the version, how it was built and what the kernel offers",
       "version [OPTIONS]", "  caisson version --json\n", ""},
      {CommandId::kHelp, "help", "Explain Caisson or one of its commands", "help [COMMAND]", "  caisson help run\n", "",
       Operands::kTopic},
  };
}

std::vector<OptionInfo> MakeOptions() {
  const plan::Limits limits;
  const std::string timeout = FormatDuration(sandbox::CommandSpec{}.timeout);
  return {
      {Option::kImage, "image", "IMAGE",
       "What the sandbox's root is: host (made from this host's programs), or a directory", "host", "CAISSON_IMAGE",
       kRunOnly},
      {Option::kWorkspace, "workspace", "DIR[:MODE]",
       "A folder to show at /home/agent/workspace. MODE: copy (changes end with the sandbox), rw (changes are made on "
       "the host, without undo), ro. Default mode: copy",
       "", "CAISSON_WORKSPACE", kRunOnly},
      {Option::kCpus, "cpus", "N", "CPU time, in cores", FormatCpus(limits.cpus), "CAISSON_CPUS", kRunOnly},
      {Option::kMemory, "memory", "SIZE", "Memory, at least 4MiB; without swap", FormatBytes(limits.memory),
       "CAISSON_MEMORY", kRunOnly},
      {Option::kDisk, "disk", "SIZE", "What the writable layer may hold, at least 1MiB", FormatBytes(limits.disk),
       "CAISSON_DISK", kRunOnly},
      {Option::kPids, "pids", "N", "Processes and threads", std::to_string(limits.pids), "CAISSON_PIDS", kRunOnly},
      {Option::kTimeout, "timeout", "DURATION", "When to kill the command, for example 250ms, 30s, 10m, 2h", timeout,
       "CAISSON_TIMEOUT", kRunOnly},
      {Option::kEnv, "env", "NAME=VALUE", "A variable for the command; may be given again", "", nullptr, kRunOnly,
       Occurs::kRepeatedly},
      {Option::kUser, "user", "USER", "Who the command runs as: agent (uid 1000) or root (of the sandbox)", "agent",
       "CAISSON_USER", kRunOnly},
      {Option::kNetwork, "network", "NETWORK", "What the sandbox can reach: none", "none", "CAISSON_NETWORK", kRunOnly},
      {Option::kTier, "tier", "TIER", "What isolates the sandbox: process, or auto for the strongest this host has",
       "auto", "CAISSON_TIER", kRunOnly},
      {Option::kStorage, "storage", "STORAGE",
       "Where the writable layer lies: tmpfs (in memory, bounded by --disk and half of --memory), btrfs (on disk, "
       "bounded by "
       "--disk) or directory (on disk, not bounded)",
       "tmpfs", "CAISSON_STORAGE", kRunOnly},
      {Option::kKeep, "keep", nullptr,
       "Keep the sandbox's files, for `caisson diff`, until `caisson delete`. The storage is then btrfs unless "
       "--storage "
       "says directory",
       "", nullptr, kRunOnly},
      {Option::kTty, "tty", nullptr, "Give the command a terminal", "", nullptr, kRunOnly},
      {Option::kJson, "json", nullptr, "Print one JSON object; errors too, on stderr", "", nullptr, kPrintsData},
      {Option::kQuiet, "quiet", nullptr, "No notices on stderr, only errors", "", nullptr, kRunOnly},
      {Option::kVerbose, "verbose", nullptr, "Say on stderr what is used and where each value came from", "", nullptr,
       kRunOnly},
      {Option::kYes, "yes", nullptr, "Remove it; without this nothing is removed", "", nullptr, For(CommandId::kPurge)},
      {Option::kPatch, "patch", nullptr, "Print the changes of files as a unified diff", "", nullptr,
       For(CommandId::kDiff)},
      {Option::kHelp, "help", nullptr, "Print this help (also -h)", "", nullptr, kEvery},
  };
}

}  // namespace

const std::vector<CommandInfo>& Commands() {
  static const std::vector<CommandInfo> commands = MakeCommands();
  return commands;
}

const CommandInfo* FindCommand(std::string_view name) {
  const auto& all = Commands();
  const auto found = std::find_if(all.begin(), all.end(), [&](const CommandInfo& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const CommandInfo& CommandOf(CommandId id) { return Commands()[static_cast<std::size_t>(id)]; }

const std::vector<OptionInfo>& Options() {
  static const std::vector<OptionInfo> options = MakeOptions();
  return options;
}

const OptionInfo& OptionOf(Option id) { return Options()[static_cast<std::size_t>(id)]; }

std::vector<const OptionInfo*> OptionsOf(CommandId command) {
  std::vector<const OptionInfo*> chosen;
  for (const OptionInfo& info : Options()) {
    if (info.AppliesTo(command)) chosen.push_back(&info);
  }
  return chosen;
}

}  // namespace caisson::cli
