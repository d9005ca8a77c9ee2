#include "caisson/cli/option_table.h"

#include <algorithm>
#include <initializer_list>

#include "caisson/plan/limits.h"
#include "caisson/sandbox/command.h"

namespace caisson::cli {
namespace {

constexpr unsigned For(CommandId id) { return 1U << static_cast<unsigned>(id); }

constexpr unsigned For(std::initializer_list<CommandId> ids) {
  unsigned bits = 0;
  for (const CommandId id : ids) bits |= For(id);
  return bits;
}

constexpr unsigned kEvery = For(CommandId::kHelp) * 2 - 1;  // kHelp is the last one
constexpr unsigned kPrintsData =
    kEvery & ~For({CommandId::kAttach, CommandId::kCopy, CommandId::kServe, CommandId::kHelp});
constexpr unsigned kRunOnly = For(CommandId::kRun);
constexpr unsigned kMakesSandbox = For({CommandId::kRun, CommandId::kCreate});
// `caisson template show` takes what a template may say, and says what would count.
constexpr unsigned kShown = For(CommandId::kTemplate);
constexpr unsigned kRunsCommand = For({CommandId::kRun, CommandId::kExec});
constexpr unsigned kCreateOnly = For(CommandId::kCreate);
constexpr unsigned kExecOnly = For(CommandId::kExec);
constexpr unsigned kPolicyOnly = For(CommandId::kPolicy);
constexpr unsigned kServeOnly = For(CommandId::kServe);
constexpr unsigned kAsksNode =
    For({CommandId::kCreate, CommandId::kExec, CommandId::kTool, CommandId::kList, CommandId::kInspect,
         CommandId::kLogs, CommandId::kAttach, CommandId::kPause, CommandId::kResume, CommandId::kStop,
         CommandId::kDelete, CommandId::kCopy, CommandId::kDiff});

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

constexpr const char* kStartsDaemon =
    "Without --host a daemon is started when none runs; it ends by itself 15 minutes after its last sandbox.\n";

constexpr const char* kExecNotes =
    "ID is the id of a sandbox, the beginning of one, or a name. Standard input goes to the command, unless it is\n"
    "/dev/null or --no-stdin is given. Exit status as of `caisson run`. The first Ctrl-C goes to the command, the\n"
    "second cancels it. When the connection is lost the output goes on where it was.\n";

constexpr const char* kToolNotes =
    "Follows the policy of the sandbox and prints the step's result as one line of JSON. NAME is run_command; JSON\n"
    "is its input: command (a text for bash) or argv, and cwd, env, stdin, timeout (seconds), background.\n"
    "Exit status: 0 when the step has a result, whatever its outcome; 2 for a wrong input; 3 when it could not be\n"
    "asked.\n";

constexpr const char* kAttachNotes =
    "The output from its beginning; standard input goes to the command. The first Ctrl-C goes to the command, the\n"
    "second ends this program and leaves the command running. Exit status: as of `caisson exec`; 130 after that.\n";

constexpr const char* kLogsNotes =
    "CMD is the id of a command, or the beginning of one; without it, the last command. Exit status: 0, or 3 when\n"
    "there is no such output.\n";

constexpr const char* kCopyNotes =
    "One of the two is ID:PATH; a PATH without a slash in front begins at /home/agent/workspace. Folders are copied\n"
    "with what is in them, into a folder that is there or under the new name. Modes are kept, owners are not.\n"
    "Symbolic links, devices and the like are left out, and said. Exit status: 0, 1 when something was left out, 3\n"
    "when something could not be copied.\n";

constexpr const char* kServeNotes =
    "Listens on a Unix socket that only root can use, and with --listen on a TCP address of this host, where every\n"
    "caller needs a key. Runs until it is told to end by SIGTERM, or by --idle-exit.\n";

constexpr const char* kTemplateNotes =
    "check names every mistake of FILE and what of it is not there yet; without FILE, of ./caisson.toml. show says\n"
    "which values would count and where each came from: option, then variable, template, profile, default. A\n"
    "template is only read when it is named. Exit status: 0; 1 when check found a mistake; 2 misused; 3 when it\n"
    "cannot be read.\n";

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

constexpr const char* kPolicyExample =
    "  caisson policy show minimal > policy.toml\n"
    "  caisson policy check policy.toml\n"
    "  caisson policy explain minimal 'ls | xargs rm'\n"
    "  caisson policy explain policy.toml -- git push origin main\n"
    "  caisson policy explain policy.toml file.write /etc/hosts\n"
    "  caisson policy test policy.toml commands.txt\n";

constexpr const char* kPolicyNotes =
    "POLICY is a preset (open, standard, minimal, read_only, strict) or a file, TOML or with the ending .json JSON.\n"
    "explain takes the text of a command, the words of one, or an action and what it is done to. test takes a file\n"
    "of lines like \"deny rm -rf x\". Nothing is run. Exit status: 0; 1 when check found a mistake, explain something\n"
    "that is not allowed, or test something decided otherwise; 2 misused; 3 when the policy cannot be read.\n";

std::vector<CommandInfo> MakeCommands() {
  return {
      {CommandId::kRun, "run", "Run one command in a fresh sandbox, which is destroyed after it",
       "run [OPTIONS] -- COMMAND [ARGUMENT...]", kRunExample, kRunNotes, Operands::kNone, Program::kNeeded},
      {CommandId::kCreate, "create", "Make a sandbox that stays", "create [OPTIONS] [NAME]",
       "  caisson create web\n  caisson create --memory 512MiB --idle-timeout 15m --label team=a\n", kStartsDaemon,
       Operands::kMaybeName},
      {CommandId::kExec, "exec", "Run a command in a sandbox that stays", "exec [OPTIONS] ID -- COMMAND [ARGUMENT...]",
       "  caisson exec web -- ls -l\n  tar c . | caisson exec web -- tar x\n  caisson exec --background web -- make\n",
       kExecNotes, Operands::kOneId, Program::kNeeded},
      {CommandId::kTool, "tool", "Call a tool in a sandbox that stays, as an agent does",
       "tool [OPTIONS] ID NAME [JSON]",
       "  caisson tool web run_command '{\"command\": \"ls -l\"}'\n"
       "  caisson tool web run_command '{\"argv\": [\"python3\", \"test.py\"], \"timeout\": 120}'\n",
       kToolNotes, Operands::kIdToolAndMaybeInput},
      {CommandId::kTools, "tools", "Print the tools, or their schemas for an agent's program", "tools [OPTIONS]",
       "  caisson tools\n  caisson tools --format openai > tools.json\n", "Exit status: 0.\n"},
      {CommandId::kList, "list", "List the sandboxes that stay", "list [OPTIONS]",
       "  caisson list\n  caisson list --json --all\n", "Exit status: 0, or 3 when it cannot be said.\n"},
      {CommandId::kInspect, "inspect", "Say everything about a sandbox", "inspect [OPTIONS] ID",
       "  caisson inspect web\n  caisson inspect --json sb_4f\n", "Exit status: 0, or 3 when it cannot be said.\n",
       Operands::kOneId},
      {CommandId::kLogs, "logs", "Print what a command of a sandbox wrote", "logs [OPTIONS] ID [CMD]",
       "  caisson logs web\n  caisson logs --follow web cm_7a\n", kLogsNotes, Operands::kIdAndMaybeCommand},
      {CommandId::kAttach, "attach", "Be connected with a command that runs", "attach [OPTIONS] ID CMD",
       "  caisson attach web cm_7a\n", kAttachNotes, Operands::kIdAndCommand},
      {CommandId::kPause, "pause", "Freeze every process of a sandbox", "pause [OPTIONS] ID", "  caisson pause web\n",
       "Exit status: 0, or 3 when it could not be done.\n", Operands::kOneId},
      {CommandId::kResume, "resume", "Let a sandbox run again that was paused or stopped", "resume [OPTIONS] ID",
       "  caisson resume web\n",
       "One that was stopped starts anew with its files.\n\nExit status: 0, or 3 when it could not be done.\n",
       Operands::kOneId},
      {CommandId::kStop, "stop", "End the processes of a sandbox and keep its files", "stop [OPTIONS] ID",
       "  caisson stop web\n", "Exit status: 0, or 3 when it could not be done.\n", Operands::kOneId},
      {CommandId::kDelete, "delete", "Remove sandboxes that stay, or were kept", "delete [OPTIONS] ID...",
       "  caisson delete web sb_4f\n", "Exit status: 0, or 3 when one could not be removed.\n", Operands::kIds},
      {CommandId::kCopy, "copy", "Copy files into a sandbox or out of it", "copy [OPTIONS] SRC DST",
       "  caisson copy src web:project\n  caisson copy web:/tmp/out.csv .\n", kCopyNotes, Operands::kTwoPaths},
      {CommandId::kDiff, "diff", "Say what is different in a sandbox that stays, or was kept", "diff [OPTIONS] ID",
       "  caisson diff sb_4f\n  caisson diff --patch sb_4f > changes.patch\n", kDiffNotes, Operands::kOneId},
      {CommandId::kServe, "serve", "Be the daemon, which keeps sandboxes and answers for them", "serve [OPTIONS]",
       "  caisson serve\n  caisson serve --listen 127.0.0.1:7777\n", kServeNotes},
      {CommandId::kTemplate, "template", "Check a template, or show which values count with it",
       "template check|show [OPTIONS] [FILE]",
       "  caisson template check\n  caisson template show --profile team web.toml\n", kTemplateNotes,
       Operands::kVerbAndMaybeFile},
      {CommandId::kPolicy, "policy", "Check, explain, show or try what a policy lets an agent do",
       "policy check|explain|show|test [OPTIONS] POLICY [...]", kPolicyExample, kPolicyNotes, Operands::kVerbAndMore},
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
      {Option::kTemplate, "template", "FILE", "A caisson.toml with values for what is not given here", "",
       "CAISSON_TEMPLATE", kMakesSandbox | kShown},
      {Option::kProfile, "profile", "NAME", "What it is for: personal, team, production or high-security", "",
       "CAISSON_PROFILE", kMakesSandbox | kShown},
      {Option::kPolicy, "policy", "POLICY",
       "What the command may do: a preset (open, standard, minimal, read_only, strict), a file, or template for that "
       "of the template",
       "open", nullptr, kRunOnly},
      {Option::kAgentPolicy, "policy", "POLICY",
       "What tools may do in it: a preset (open, standard, minimal, read_only, strict) or a file", "standard", nullptr,
       kCreateOnly},
      {Option::kExecPolicy, "policy", "POLICY",
       "What the command may do: a preset (open, standard, minimal, read_only, strict) or a file", "open", nullptr,
       kExecOnly},
      {Option::kToolFormat, "format", "FORMAT", "Schemas as mcp, openai, anthropic or gemini take them, as JSON", "",
       nullptr, For(CommandId::kTools)},
      {Option::kImage, "image", "IMAGE",
       "What the sandbox's root is: host (made from this host's programs), or a directory", "host", "CAISSON_IMAGE",
       kMakesSandbox | kShown},
      {Option::kWorkspace, "workspace", "DIR[:MODE]",
       "A folder to show at /home/agent/workspace. MODE: copy (changes end with the sandbox), rw (changes are made on "
       "the host, without undo), ro. Default mode: copy",
       "", "CAISSON_WORKSPACE", kMakesSandbox},
      {Option::kCpus, "cpus", "N", "CPU time, in cores", FormatCpus(limits.cpus), "CAISSON_CPUS",
       kMakesSandbox | kShown},
      {Option::kMemory, "memory", "SIZE", "Memory, at least 4MiB; without swap", FormatBytes(limits.memory),
       "CAISSON_MEMORY", kMakesSandbox | kShown},
      {Option::kDisk, "disk", "SIZE", "What the writable layer may hold, at least 1MiB", FormatBytes(limits.disk),
       "CAISSON_DISK", kMakesSandbox | kShown},
      {Option::kPids, "pids", "N", "Processes and threads", std::to_string(limits.pids), "CAISSON_PIDS",
       kMakesSandbox | kShown},
      {Option::kTimeout, "timeout", "DURATION", "When to kill the command, for example 250ms, 30s, 10m, 2h", timeout,
       "CAISSON_TIMEOUT", kMakesSandbox | kShown},
      {Option::kExecTimeout, "timeout", "DURATION", "When to kill the command. Without it, as the sandbox says", "",
       "CAISSON_TIMEOUT", kExecOnly},
      {Option::kEnv, "env", "NAME=VALUE", "A variable for the command; may be given again", "", nullptr,
       kMakesSandbox | kShown | kExecOnly | kPolicyOnly, Occurs::kRepeatedly},
      {Option::kAt, "at", "TIME", "When, for example 2026-03-01T09:30:00+01:00. Without it: now", "", nullptr,
       kPolicyOnly},
      {Option::kCwd, "cwd", "DIR", "Where the command starts", "/home/agent/workspace", nullptr,
       kExecOnly | kPolicyOnly},
      {Option::kUser, "user", "USER", "Who the command runs as: agent (uid 1000) or root (of the sandbox)", "agent",
       "CAISSON_USER", kRunsCommand | kShown},
      {Option::kNetwork, "network", "NETWORK", "What the sandbox can reach: none", "none", "CAISSON_NETWORK",
       kRunOnly | kShown},
      {Option::kTier, "tier", "TIER", "What isolates the sandbox: process, or auto for the strongest this host has",
       "auto", "CAISSON_TIER", kRunOnly | kShown},
      {Option::kStorage, "storage", "STORAGE",
       "Where the writable layer lies: tmpfs (in memory, bounded by --disk and half of --memory), btrfs (on disk, "
       "bounded by "
       "--disk) or directory (on disk, not bounded)",
       "tmpfs", "CAISSON_STORAGE", kRunOnly},
      {Option::kLastingStorage, "storage", "STORAGE",
       "Where the writable layer lies: btrfs (on disk, bounded by --disk), directory (on disk, not bounded) or tmpfs "
       "(in "
       "memory)",
       "btrfs", "CAISSON_STORAGE", kCreateOnly},
      {Option::kKeep, "keep", nullptr,
       "Keep the sandbox's files, for `caisson diff`, until `caisson delete`. The storage is then btrfs unless "
       "--storage "
       "says directory",
       "", nullptr, kRunOnly},
      {Option::kLabel, "label", "KEY=VALUE", "A label, to find it by; may be given again", "", nullptr, kCreateOnly,
       Occurs::kRepeatedly},
      {Option::kIdleTimeout, "idle-timeout", "DURATION", "When to end it with no command running and nobody asking", "",
       "CAISSON_IDLE_TIMEOUT", kCreateOnly | kShown},
      {Option::kMaxLifetime, "max-lifetime", "DURATION", "When to end it whatever happens, pauses excluded", "",
       "CAISSON_MAX_LIFETIME", kCreateOnly | kShown},
      {Option::kOnEnd, "on-end", "WHAT",
       "What becomes of it when its time is over: delete, or keep (it is stopped, and its files stay whatever ends it)",
       "delete", "CAISSON_ON_END", kCreateOnly | kShown},
      {Option::kTty, "tty", nullptr, "Give the command a terminal", "", nullptr, kRunOnly},
      {Option::kBackground, "background", nullptr, "Print the id of the command and leave it running", "", nullptr,
       kExecOnly},
      {Option::kNoStdin, "no-stdin", nullptr, "Do not forward standard input", "", nullptr,
       For({CommandId::kExec, CommandId::kAttach})},
      {Option::kFollow, "follow", nullptr, "Go on until the command has ended", "", nullptr, For(CommandId::kLogs)},
      {Option::kAll, "all", nullptr, "Those that were deleted, too", "", nullptr, For(CommandId::kList)},
      {Option::kHost, "host", "URL",
       "The daemon to ask: unix:///PATH, or http://127.0.0.1:PORT with a key in CAISSON_KEY",
       "unix:///run/caisson/caisson.sock", "CAISSON_HOST", kAsksNode},
      {Option::kSocket, "socket", "PATH", "Where to listen", "/run/caisson/caisson.sock", nullptr, kServeOnly},
      {Option::kListen, "listen", "ADDRESS", "Listen also on a TCP address of this host, such as 127.0.0.1:7777", "",
       nullptr, kServeOnly},
      {Option::kIdleExit, "idle-exit", "DURATION", "End when there was no sandbox and no caller for so long", "",
       nullptr, kServeOnly},
      {Option::kJson, "json", nullptr, "Print JSON, lists an object a line; errors too, on stderr", "", nullptr,
       kPrintsData},
      {Option::kQuiet, "quiet", nullptr, "No notices on stderr, only errors", "", nullptr,
       kRunsCommand | For(CommandId::kCopy)},
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
