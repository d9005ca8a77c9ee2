#include "bench/work_variants.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <variant>

#include "bench/program.h"
#include "caisson/base/units.h"
#include "caisson/os/mount.h"

namespace caisson::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kProgram = "/bench-work";
// Neither limit comes into play.
constexpr Bytes kMemory = GiB(8);
constexpr Bytes kDisk = GiB(4);
constexpr std::chrono::minutes kPatience{2};
constexpr std::size_t kLongestOutput = 4096;

std::vector<std::string> ArgumentsOf(std::string program, const WorkOrder& order) {
  std::vector<std::string> arguments = {std::move(program)};
  for (std::string& argument : FormatOrder(order)) arguments.push_back(std::move(argument));
  return arguments;
}

}  // namespace

Result<std::unique_ptr<Workplace>> SandboxWorkplace::Make(sandbox::Sandboxes& engine,
                                                          const std::string& program_directory, plan::Storage storage,
                                                          Report report) {
  sandbox::SandboxSpec spec;
  spec.limits.memory = kMemory;
  spec.limits.disk = kDisk;
  spec.storage = storage;
  os::Fd programs(::open(program_directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!programs.valid()) return Fail(Error::FromErrno(errno, "cannot open " + program_directory));
  spec.workspace = sandbox::Workspace{.directory = std::move(programs), .mode = plan::WorkspaceMode::kReadOnly};
  CAISSON_TRY(auto sandbox, engine.Create(std::move(spec)));
  return std::make_unique<SandboxWorkplace>(std::move(sandbox), report);
}

Result<Workplace::Times> SandboxWorkplace::Do(const Work& work, const std::string& folder) {
  sandbox::CommandSpec spec;
  spec.argv = ArgumentsOf(std::string(plan::kAgentWorkspace) + kProgram, {work, "/tmp/" + folder});
  spec.report_changes = report_ == Report::kOn ? sandbox::ReportChanges::kYes : sandbox::ReportChanges::kNo;
  spec.timeout = kPatience;
  const auto start = Clock::now();
  CAISSON_TRY(auto command, sandbox_->Start(spec));
  CAISSON_TRY(const auto result, command.Wait());
  const auto end = Clock::now();
  const auto* exited = std::get_if<sandbox::Exited>(&result.outcome);
  if (exited == nullptr || exited->code != 0) {
    return Fail(Error(Code::kInternal, "bench-work did not succeed in the sandbox")
                    .Because("outcome " + std::string(sandbox::OutcomeName(result.outcome)) + ", status " +
                             std::to_string(sandbox::ExitStatus(result.outcome)) + ": " + result.err.kept));
  }
  if (result.files_changed.has_value() != (report_ == Report::kOn)) {
    return Fail(Error(Code::kInternal, "a command's changes were not reported as asked"));
  }
  CAISSON_TRY(const auto time, ParseWorkTime(result.out.kept));
  return Times{.command = end - start, .work = time};
}

Result<std::unique_ptr<Workplace>> NativeWorkplace::MakeInMemory(const std::string& program_directory) {
  CAISSON_TRY(auto tmpfs, os::FileSystem::Open("tmpfs"));
  CAISSON_TRY(auto mount, tmpfs.Set("size", std::to_string(kDisk.value)).Mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  const std::string root = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(mount.get());
  // Not make_unique: the constructor is private.
  return std::unique_ptr<Workplace>(new NativeWorkplace(program_directory + kProgram, root, std::move(mount)));
}

Result<std::unique_ptr<Workplace>> NativeWorkplace::MakeOnDisk(const std::string& program_directory,
                                                               const std::string& data_directory) {
  std::string root = data_directory + "/bench-XXXXXX";
  if (::mkdtemp(root.data()) == nullptr) return Fail(Error::FromErrno(errno, "cannot make " + root));
  return std::unique_ptr<Workplace>(new NativeWorkplace(program_directory + kProgram, root, {}));
}

NativeWorkplace::~NativeWorkplace() {
  std::error_code error;
  if (!mount_.valid()) std::filesystem::remove_all(root_, error);
}

Result<Workplace::Times> NativeWorkplace::Do(const Work& work, const std::string& folder) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(Error::FromErrno(errno, "cannot make a pipe"));
  const os::Fd reader(ends[0]);
  os::Fd writer(ends[1]);
  const auto start = Clock::now();
  CAISSON_TRY(auto program, Program::Spawn(ArgumentsOf(program_, {work, root_ + "/" + folder}),
                                           StandardStreams{.out = writer.get(), .err = STDERR_FILENO}));
  writer.Reset();
  CAISSON_TRY(const auto printed, os::ReadAll(reader.get(), kLongestOutput));
  CAISSON_TRY(const auto status, program.Wait());
  const auto end = Clock::now();
  if (status != 0) {
    return Fail(Error(Code::kInternal, "bench-work ended with status " + std::to_string(status)));
  }
  CAISSON_TRY(const auto time, ParseWorkTime(printed));
  return Times{.command = end - start, .work = time};
}

Result<std::unique_ptr<Variant>> WorkVariant::Make(const WorkSeries& series, Workplace& place) {
  if (series.changed_before > 0) {
    const Work make{.kind = WorkKind::kChange, .files = series.changed_before};
    CAISSON_TRY([[maybe_unused]] const auto times, place.Do(make, "before"));
  }
  return std::make_unique<WorkVariant>(series, place);
}

Result<std::chrono::nanoseconds> WorkVariant::RunOnce() {
  if (series_.before) {
    CAISSON_TRY([[maybe_unused]] const auto uncounted, place_.Do(*series_.before, "now"));
  }
  CAISSON_TRY(const auto times, place_.Do(series_.work, "now"));
  return series_.timed == Timed::kCommand ? times.command : times.work;
}

}  // namespace caisson::bench
