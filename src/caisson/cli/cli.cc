#include "caisson/cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/help.h"
#include "caisson/os/fd.h"

namespace caisson::cli {
namespace {

// A closed standard stream would be the number of the next file that is opened, and the command would be given that
// file. An open that fails leaves things as they were.
void FillStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // Kept open on purpose, and not close-on-exec: it stands for a standard stream.
    if (fcntl(fd, F_GETFD) < 0) (void)open("/dev/null", O_RDWR);
  }
}

}  // namespace

int PrintOrFail(const std::string& text, int success, int failed) {
  const Status written = os::WriteAll(STDOUT_FILENO, text);
  if (written) return success;
  PrintError(Error(written.error()).Context("printing the answer"), Format::kText);
  return failed;
}

int Main(const std::vector<std::string>& arguments, const Environment& environment) {
  FillStandardStreams();
  signal(SIGPIPE, SIG_IGN);
  if (arguments.empty()) return OverviewCommand();

  const Result<CommandLine> line = ParseCommandLine(arguments, environment);
  if (!line) {
    PrintError(line.error(), AsksForJson(arguments) ? Format::kJson : Format::kText);
    const CommandInfo* command = FindCommand(arguments.front());
    return command != nullptr && command->program == Program::kNeeded ? kRunFailed : kUsageError;
  }
  if (line->Has(Option::kHelp)) return PrintOrFail(HelpText(line->command), kSuccess, kFailed);
  switch (line->command) {
    case CommandId::kRun:
      return RunCommand(*line);
    case CommandId::kCreate:
      return CreateCommand(*line, environment);
    case CommandId::kExec:
      return ExecCommand(*line, environment);
    case CommandId::kTools:
      return ToolsCommand(*line);
    case CommandId::kTool:
      return ToolCommand(*line, environment);
    case CommandId::kList:
      return ListCommand(*line, environment);
    case CommandId::kInspect:
      return InspectCommand(*line, environment);
    case CommandId::kLogs:
      return LogsCommand(*line, environment);
    case CommandId::kAttach:
      return AttachCommand(*line, environment);
    case CommandId::kPause:
    case CommandId::kResume:
    case CommandId::kStop:
      return ChangeStateCommand(*line, environment);
    case CommandId::kDelete:
      return DeleteCommand(*line, environment);
    case CommandId::kCopy:
      return CopyCommand(*line, environment);
    case CommandId::kDiff:
      return DiffCommand(*line, environment);
    case CommandId::kServe:
      return ServeCommand(*line);
    case CommandId::kTemplate:
      return TemplateCommand(*line);
    case CommandId::kPolicy:
      return PolicyCommand(*line);
    case CommandId::kDf:
      return DfCommand(*line);
    case CommandId::kPrune:
      return PruneCommand(*line);
    case CommandId::kPurge:
      return PurgeCommand(*line);
    case CommandId::kDoctor:
      return DoctorCommand(*line, environment);
    case CommandId::kVersion:
      return VersionCommand(*line);
    case CommandId::kHelp:
      return HelpCommand(*line);
  }
  return kFailed;
}

}  // namespace caisson::cli
