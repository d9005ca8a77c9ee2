#include "caisson/cli/run_request.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>

#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/host_folder.h"
#include "caisson/cli/host_report.h"
#include "caisson/cli/interrupts.h"
#include "caisson/cli/outcome_line.h"
#include "caisson/cli/policy_file.h"
#include "caisson/cli/template_values.h"
#include "caisson/cli/terminal.h"
#include "caisson/guard/gate.h"
#include "caisson/hint/hint.h"
#include "caisson/os/program_folder.h"
#include "caisson/sandbox/sandboxes.h"
#include "caisson/wire/result_json.h"

namespace caisson::cli {
namespace {

using std::chrono::milliseconds;

struct Finished {
  SandboxId sandbox;
  sandbox::CommandResult result;
};

Format FormatOf(Output output) { return output == Output::kJson ? Format::kJson : Format::kText; }

Result<sandbox::SandboxSpec> OpenFolders(const RunRequest& request, const std::optional<policy::Policy>& policy) {
  sandbox::SandboxSpec spec;
  spec.limits = request.limits;
  spec.storage = request.storage;
  if (request.after == After::kKeep) {
    spec.stays = sandbox::Stays::kYes;
    if (request.notices != Notices::kQuiet && request.output != Output::kJson) spec.copy_progress = CopyNotices();
  }
  if (request.image_directory) {
    Result<os::Fd> image = OpenFolder(*request.image_directory, "image");
    if (!image)
      return Fail(std::move(image).error().Remedy("an image is host, or a directory that holds a root file system"));
    spec.image = std::move(*image);
  }
  if (policy) spec.execution = guard::ExecutionFor(*policy);
  if (request.workspace) {
    Result<os::Fd> folder = OpenFolder(request.workspace->path, "workspace");
    if (!folder) return Fail(std::move(folder).error().Remedy("a workspace is a directory that you may read"));
    spec.workspace = sandbox::Workspace{std::move(*folder), request.workspace->mode};
  }
  return spec;
}

sandbox::CommandSpec CommandOf(const RunRequest& request) {
  sandbox::CommandSpec spec;
  spec.argv = request.argv;
  spec.env = request.env;
  spec.user = request.user;
  spec.timeout = request.timeout;
  // Of output that passes through only the hints need something, and where it ends is kept besides.
  if (request.output == Output::kPassThrough) {
    spec.kept_output = request.notices == Notices::kQuiet ? Bytes{0} : hint::kLookedAt;
    spec.report_changes = sandbox::ReportChanges::kNo;  // nobody would see them
  }
  if (request.terminal == Terminal::kTty) spec.terminal = SizeOfTerminal(STDIN_FILENO);
  return spec;
}

Result<sandbox::CommandResult> StartAndWait(const RunRequest& request, const sandbox::CommandSpec& spec,
                                            sandbox::Sandbox& sandbox, Interrupts& interrupts) {
  // Raw before the command starts, so that no key is echoed twice; restored before anything is printed.
  std::optional<RawTerminal> raw;
  if (request.terminal == Terminal::kTty) {
    CAISSON_TRY(RawTerminal entered, RawTerminal::Enter(STDIN_FILENO));
    raw.emplace(std::move(entered));
  }
  CAISSON_TRY(sandbox::Command command, sandbox.Start(spec));
  sandbox::Attachment attachment;
  attachment.stdin_fd = STDIN_FILENO;
  if (request.output == Output::kPassThrough) {
    attachment.stdout_fd = STDOUT_FILENO;
    attachment.stderr_fd = STDERR_FILENO;
  }
  interrupts.ConnectTo(attachment);
  return command.Wait(attachment);
}

// Under a policy, which may refuse it.
Result<sandbox::CommandResult> AskAndRun(const RunRequest& request, policy::Policy policy, sandbox::Sandbox& sandbox,
                                         Interrupts& interrupts) {
  guard::MemoryLedger ledger;
  guard::HostPrograms of_host;
  guard::OwnPrograms of_image;
  guard::ProgramSource& programs = request.image_directory ? static_cast<guard::ProgramSource&>(of_image) : of_host;
  CAISSON_TRY(const std::unique_ptr<guard::Gate> gate, guard::Gate::Make(std::move(policy), ledger, programs));
  const sandbox::CommandSpec spec = CommandOf(request);
  policy::CommandCall call;
  call.argv = spec.argv;
  call.env = spec.env;
  call.cwd = spec.cwd;
  sandbox::CommandSpec without_variables = spec;
  without_variables.env.clear();
  CAISSON_TRY(const guard::Gate::Admission admission, gate->Admit(call, without_variables, sandbox, guard::Now()));
  if (!admission.spec) {
    sandbox::CommandResult refused;
    refused.outcome = sandbox::Denied{};
    if (admission.decision.effect == policy::Effect::kAsk) refused.outcome = sandbox::NeedsApproval{};
    refused.decision = guard::NoteOf(admission.decision);
    return refused;
  }
  sandbox::CommandSpec admitted = *admission.spec;
  const auto time_left =
      admission.stop ? std::max(admission.stop->at - guard::Now(), milliseconds(1)) : milliseconds(0);
  const bool ends_early = admission.stop && time_left < admitted.timeout;
  if (ends_early) admitted.timeout = time_left;
  CAISSON_TRY(sandbox::CommandResult result, StartAndWait(request, admitted, sandbox, interrupts));
  result.decision = guard::NoteOf(admission.decision);
  if (ends_early && std::holds_alternative<sandbox::TimedOut>(result.outcome)) {
    result.outcome = sandbox::Cancelled{};
    result.decision = admission.stop->note;
  }
  return result;
}

Result<Finished> Run(const RunRequest& request, const EffectiveValues& values) {
  std::optional<policy::Policy> policy;
  if (request.policy) {
    CAISSON_TRY(policy, LoadRunPolicy(*request.policy, values));
    CAISSON_CHECK_OK(policy::CheckEnforceable(*policy, guard::KernelFeaturesHere()));
    if (request.user == sandbox::User::kRoot && !policy->allows_everything()) {
      return Fail(Error(Code::kInvalidArgument, "--user root and --policy exclude each other")
                      .Because("a policy other than open is for the user agent")
                      .Remedy("leave one out"));
    }
  }
  CAISSON_TRY(sandbox::SandboxSpec spec, OpenFolders(request, policy));
  sandbox::EngineOptions options;
  options.expect = plan::Expect::kOneSandbox;
  CAISSON_TRY(options.program_directory, os::ProgramFolder());

  // Declared first: a signal that waits has its usual effect only after the sandbox is gone. Watched later: the
  // launcher must not inherit a changed signal mask.
  Interrupts interrupts;
  CAISSON_TRY(const std::unique_ptr<sandbox::Sandboxes> sandboxes, sandbox::Sandboxes::Start(options));
  CAISSON_CHECK_OK(interrupts.Watch());
  CAISSON_TRY(const std::unique_ptr<sandbox::Sandbox> sandbox, sandboxes->Create(std::move(spec)));
  if (request.after == After::kKeep) CAISSON_CHECK_OK(sandbox->Keep());
  CAISSON_CHECK_OK(sandboxes->GiveUpPrivileges());
  if (request.after == After::kKeep && request.notices != Notices::kQuiet && request.output != Output::kJson) {
    PrintNotice("the sandbox's files are kept: caisson diff " + sandbox->id().text());
  }
  if (request.notices == Notices::kVerbose) PrintNotice("sandbox " + sandbox->id().text());

  CAISSON_TRY(sandbox::CommandResult result, policy ? AskAndRun(request, *std::move(policy), *sandbox, interrupts)
                                                    : StartAndWait(request, CommandOf(request), *sandbox, interrupts));
  Finished finished{sandbox->id(), std::move(result)};
  // The command has ended whatever becomes of its sandbox: its result is still worth more than this error.
  if (const Status destroyed = sandbox->Destroy(); !destroyed) PrintError(destroyed.error(), FormatOf(request.output));
  return finished;
}

std::vector<hint::Hint> HintsFor(const RunRequest& request, const sandbox::CommandResult& result) {
  const sandbox::CommandSpec command = CommandOf(request);
  return hint::FindHints(
      {.command = command,
       .result = result,
       .limits = request.limits,
       .storage = request.storage,
       .network = hint::Network::kNone,
       .delivery = request.output == Output::kJson ? hint::Delivery::kKept : hint::Delivery::kPassedThrough});
}

void PrintBefore(const EffectiveValues& values, const RunRequest& request) {
  if (request.notices == Notices::kVerbose) {
    for (const std::string& value : DescribeValues(values.line)) PrintNotice(value);
  }
  if (request.notices != Notices::kQuiet) {
    for (const std::string& notice : NoticesOf(values)) PrintNotice(notice);
  }
  const bool changes_host = request.workspace && request.workspace->mode == plan::WorkspaceMode::kReadWrite;
  if (changes_host && request.notices != Notices::kQuiet) {
    PrintNotice("warning: the command changes " + Quoted(request.workspace->path) + " on this host, without undo");
  }
}

int PrintAfter(const RunRequest& request, const Finished& finished) {
  const int status = sandbox::ExitStatus(finished.result.outcome);
  if (request.notices == Notices::kVerbose) PrintNotice(UsageLine(finished.result));
  if (request.output == Output::kJson) {
    const std::string result = wire::ResultJson(finished.sandbox, finished.result, HintsFor(request, finished.result));
    return PrintOrFail(result, status, kRunFailed);
  }
  if (request.notices == Notices::kQuiet) return status;
  const std::string line = OutcomeLine(finished.result.outcome, request, finished.result.decision);
  if (!line.empty()) PrintNotice(line);
  for (const hint::Hint& hint : HintsFor(request, finished.result)) {
    PrintNotice("hint: " + hint.message + " " + hint.suggestion);
  }
  return status;
}

}  // namespace

int RunCommand(const CommandLine& line) {
  const Format format = line.Has(Option::kJson) ? Format::kJson : Format::kText;
  const auto fail = [format](const Error& error) {
    PrintError(error, format);
    return kRunFailed;
  };
  const Result<EffectiveValues> values = UsableValues(line);
  if (!values) return fail(values.error());
  const Result<RunRequest> request = ReadRunRequest(values->line);
  if (!request) return fail(request.error());
  if (request->terminal == Terminal::kTty) {
    if (const Status terminal = RequireTerminal(STDIN_FILENO); !terminal) return fail(terminal.error());
  }
  PrintBefore(*values, *request);
  const Result<Finished> finished = Run(*request, *values);
  if (!finished) return fail(finished.error());
  return PrintAfter(*request, *finished);
}

}  // namespace caisson::cli
