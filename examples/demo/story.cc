#include "story.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "attempts.h"
#include "caisson/os/identity.h"
#include "edit.h"
#include "inside.h"
#include "outside.h"
#include "test_counts.h"

namespace caisson::demo {
namespace {

// -S leaves out what else the host has installed, so that the counts depend on the archive and Python alone.
const std::vector<std::string> kRunTests = {"/usr/bin/python3", "-S", "-m", "unittest", "discover"};

// Link labels that differ in case only are the same. Without the second step 'ẞ' no longer equals 'SS', and one test
// of the project knows that.
constexpr const char* kRightLine = "    return key.lower().upper()";
constexpr const char* kWrongLine = "    return key.lower()  # simpler";
constexpr const char* kBrokenTest = "test_links_539 (tests.test_commonmark.TestCommonMark.test_links_539)";

std::string ArchiveName(const Project& project) { return project.name + "-" + project.version + ".tar.gz"; }
std::string SourceFolder(const Project& project) { return project.name + "-" + project.version; }

// Relative to the workspace.
std::string EditedFile(const Project& project) { return SourceFolder(project) + "/src/mistune/util.py"; }

struct Suite {
  TestCounts counts;
  std::string outcome;
};

class Story {
 public:
  Story(const Project& project, cli::Interrupts& interrupts, Report& report)
      : project_(project), interrupts_(interrupts), report_(report) {}

  Status Tell(sandbox::Sandboxes& sandboxes);

 private:
  Result<std::unique_ptr<sandbox::Sandbox>> MakeSandbox(sandbox::Sandboxes& sandboxes, const std::string& folder);
  Status Unpack(Inside& inside);
  Result<TestCounts> CountOutside(const TemporaryFolder& temporary, const std::string& host_folder);
  Status RunUnchanged(Inside& inside, const TestCounts& outside);
  Status Break(Inside& inside);
  Status Repair(Inside& inside, const std::string& original);
  Result<Suite> RunTests(Inside& inside, const std::string& name, std::size_t shown_lines);

  const Project& project_;
  cli::Interrupts& interrupts_;
  Report& report_;
};

Status Story::Tell(sandbox::Sandboxes& sandboxes) {
  report_.Title("Caisson: a real project's tests, run in a sandbox that cannot touch this machine");
  report_.Line("project      " + SourceFolder(project_) + ", its source archive as published, " +
               std::to_string(project_.archive.size() / 1024) + " KiB");
  CAISSON_TRY(const TemporaryFolder temporary, TemporaryFolder::Make());
  CAISSON_TRY(const std::string host_folder, temporary.MakeFolder("project"));
  CAISSON_CHECK_OK(WriteFile(host_folder + "/" + ArchiveName(project_), project_.archive));
  for (const std::string& path : {temporary.path(), host_folder, host_folder + "/" + ArchiveName(project_)}) {
    if (chown(path.c_str(), os::kEngineUid, os::kEngineUid) != 0) {
      return Fail(Error::FromErrno(errno, "cannot give away " + path));
    }
  }
  CAISSON_TRY(const std::unique_ptr<sandbox::Sandbox> sandbox, MakeSandbox(sandboxes, host_folder));
  CAISSON_CHECK_OK(sandboxes.GiveUpPrivileges());
  Inside inside(*sandbox, interrupts_, report_);

  CAISSON_CHECK_OK(Unpack(inside));
  CAISSON_TRY(const TestCounts outside, CountOutside(temporary, host_folder));
  CAISSON_CHECK_OK(RunUnchanged(inside, outside));
  CAISSON_TRY(const sandbox::FileContent original, sandbox::Files(*sandbox).Read(EditedFile(project_)));
  CAISSON_CHECK_OK(Break(inside));
  CAISSON_CHECK_OK(Repair(inside, original.bytes));
  CAISSON_CHECK_OK(TryToTouchTheHost(inside, temporary, host_folder, report_));
  return sandbox->Destroy();
}

Result<std::unique_ptr<sandbox::Sandbox>> Story::MakeSandbox(sandbox::Sandboxes& sandboxes, const std::string& folder) {
  sandbox::SandboxSpec spec;
  spec.limits = {.memory = MiB(512), .disk = MiB(256), .pids = 64};
  os::Fd directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return Fail(Error::FromErrno(errno, "cannot open " + folder));
  spec.workspace = sandbox::Workspace{std::move(directory), plan::WorkspaceMode::kCopy};
  const auto start = std::chrono::steady_clock::now();
  CAISSON_TRY(auto sandbox, sandboxes.Create(std::move(spec)));
  report_.Line("workspace    " + folder + " of the host, as a copy");
  report_.Line("limits       512 MiB of memory, 256 MiB of disk, 2 CPUs, 64 processes, no network");
  report_.Line("sandbox      " + sandbox->id().text() + ", ready in " +
               DurationText(std::chrono::steady_clock::now() - start));
  return sandbox;
}

Status Story::Unpack(Inside& inside) {
  report_.Step("Inside: check and unpack the project");
  const std::string archive = ArchiveName(project_);
  CAISSON_TRY(const sandbox::CommandResult sum, inside.Run({"/usr/bin/sha256sum", archive}, {.name = "sha256sum"}));
  report_.Expect("the archive is the pinned one", project_.sha256, sum.out.kept.substr(0, project_.sha256.size()));
  if (!report_.AllHeld()) {
    // The control would run its code on the host.
    return Fail(Error(Code::kConflict, "the archive in build/inputs is not the pinned one").Remedy("run: ./dev setup"));
  }
  CAISSON_TRY(const sandbox::CommandResult tar, inside.Run({"/usr/bin/tar", "-xf", archive}, {.name = "unpack"}));
  report_.Expect("it is unpacked", "exited 0", OutcomeText(tar.outcome));
  return {};
}

Result<TestCounts> Story::CountOutside(const TemporaryFolder& temporary, const std::string& host_folder) {
  report_.Step("Outside, for comparison: the project's own tests");
  CAISSON_TRY(const std::string control, temporary.MakeFolder("control"));
  const std::vector<std::string> tar = {"/usr/bin/tar", "-xf", host_folder + "/" + ArchiveName(project_)};
  // tar starts gzip.
  const std::vector<std::string> env = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONPATH=src",
                                        "PYTHONDONTWRITEBYTECODE=1"};
  CAISSON_TRY(const OutsideResult unpacked, RunOutside(tar, control, env));
  report_.Expect("the archive is unpacked", "exited 0", unpacked.outcome);
  report_.Command("host", kRunTests);
  CAISSON_TRY(const OutsideResult tests, RunOutside(kRunTests, control + "/" + SourceFolder(project_), env));
  report_.Line(tests.outcome + " in " + DurationText(tests.duration));
  CAISSON_TRY(TestCounts counts, ParseTestCounts(tests.output));
  report_.Line("counted: " + CountsText(counts));
  return counts;
}

Result<Suite> Story::RunTests(Inside& inside, const std::string& name, std::size_t shown_lines) {
  CAISSON_TRY(const sandbox::CommandResult result,
              inside.Run(kRunTests, {.name = name,
                                     .cwd = std::string(plan::kAgentWorkspace) + "/" + SourceFolder(project_),
                                     .shown_lines = shown_lines}));
  CAISSON_TRY(TestCounts counts, ParseTestCounts(result.err.kept));
  report_.Line("counted: " + CountsText(counts));
  return Suite{std::move(counts), OutcomeText(result.outcome)};
}

Status Story::RunUnchanged(Inside& inside, const TestCounts& outside) {
  report_.Step("Inside: the same tests");
  CAISSON_TRY(const Suite suite, RunTests(inside, "tests", 2));
  report_.Expect("they pass", "exited 0", suite.outcome);
  report_.Expect("inside and outside count the same: " + CountsText(outside), CountsText(outside),
                 CountsText(suite.counts));
  report_.Expect("none fails", "0", std::to_string(suite.counts.failed));
  return {};
}

Status Story::Break(Inside& inside) {
  report_.Step("Inside: an agent edits a file and breaks something");
  CAISSON_CHECK_OK(Apply({EditedFile(project_), kRightLine, kWrongLine}, sandbox::Files(inside.sandbox()), report_));
  CAISSON_TRY(const Suite suite, RunTests(inside, "tests, after the agent's edit", 14));
  std::string failing;
  for (const std::string& test : suite.counts.failing) failing += (failing.empty() ? "" : ", ") + test;
  report_.Expect("the tests fail", "exited 1", suite.outcome);
  report_.Expect("one test fails: test_links_539", kBrokenTest, failing);
  return {};
}

Status Story::Repair(Inside& inside, const std::string& original) {
  report_.Step("Inside: the agent repairs it");
  CAISSON_TRY(const std::string edited,
              Apply({EditedFile(project_), kWrongLine, kRightLine}, sandbox::Files(inside.sandbox()), report_));
  report_.Expect("the file is what it was", "same", edited == original ? "same" : "changed");
  CAISSON_TRY(const Suite suite, RunTests(inside, "tests, after the agent's repair", 2));
  report_.Expect("the tests pass again", "exited 0, 0 failed",
                 suite.outcome + ", " + std::to_string(suite.counts.failed) + " failed");
  return {};
}

}  // namespace

Status TellTheStory(sandbox::Sandboxes& sandboxes, const Project& project, cli::Interrupts& interrupts,
                    Report& report) {
  return Story(project, interrupts, report).Tell(sandboxes);
}

}  // namespace caisson::demo
