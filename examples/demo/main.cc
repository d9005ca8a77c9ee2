#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "caisson/cli/error_output.h"
#include "caisson/os/program_folder.h"
#include "caisson/sandbox/sandboxes.h"
#include "story.h"

namespace caisson::demo {
namespace {

constexpr int kHeld = 0;
constexpr int kDiffered = 1;  // or the demo could not run
constexpr int kUsage = 2;

constexpr std::string_view kHelp =
    "usage: caisson-demo\n\n"
    "Runs the tests of a real project in a sandbox, breaks and repairs the project there, tries to touch this\n"
    "host from inside, and shows what happened. Needs root.\n"
    "Exit status: 0 when everything was as expected, 1 when something differed or the demo could not run.\n";

Result<Project> ReadProject() {
  constexpr std::size_t kMostBytes = 16U << 20U;
  const os::Fd archive(open(DEMO_ARCHIVE, O_RDONLY | O_CLOEXEC));
  if (!archive.valid()) {
    return Fail(Error::FromErrno(errno, "cannot open the project's archive " DEMO_ARCHIVE)
                    .Remedy("fetch it with: ./dev setup"));
  }
  Project project{DEMO_NAME, DEMO_VERSION, DEMO_SHA256, ""};
  CAISSON_TRY(project.archive, os::ReadAll(archive.get(), kMostBytes));
  return project;
}

Status Run(Report& report) {
  const auto start = std::chrono::steady_clock::now();
  CAISSON_TRY(const Project project, ReadProject());
  sandbox::EngineOptions options;
  options.expect = plan::Expect::kOneSandbox;
  CAISSON_TRY(options.program_directory, os::ProgramFolder());

  // Declared first: a signal that waits has its usual effect only after the sandbox and the folders are gone. Watched
  // later: the launcher must not inherit a changed signal mask.
  cli::Interrupts interrupts;
  CAISSON_TRY(const std::unique_ptr<sandbox::Sandboxes> sandboxes, sandbox::Sandboxes::Start(options));
  CAISSON_CHECK_OK(interrupts.Watch());
  CAISSON_CHECK_OK(TellTheStory(*sandboxes, project, interrupts, report));
  report.Conclude(std::chrono::steady_clock::now() - start);
  return {};
}

int Main(int argc, char** argv) {
  if (argc > 1) {
    const bool asks_for_help = argc == 2 && std::string_view(argv[1]) == "--help";
    (void)os::WriteAll(asks_for_help ? STDOUT_FILENO : STDERR_FILENO, kHelp);
    return asks_for_help ? kHeld : kUsage;
  }
  Report report(ColourOf(STDOUT_FILENO));
  if (const Status status = Run(report); !status) {
    cli::PrintError(status.error(), cli::Format::kText);
    return kDiffered;
  }
  return report.AllHeld() ? kHeld : kDiffered;
}

}  // namespace
}  // namespace caisson::demo

int main(int argc, char** argv) { return caisson::demo::Main(argc, argv); }
