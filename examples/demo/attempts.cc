#include "attempts.h"

#include <unistd.h>

namespace caisson::demo {
namespace {

constexpr const char* kExitedOne = "exited 1";
constexpr const char* kExitedZero = "exited 0";

Status ReadASecret(Inside& inside, const TemporaryFolder& temporary, Report& report) {
  constexpr std::string_view kSecret = "the-secret-of-the-host";
  CAISSON_TRY(const std::string folder, temporary.MakeFolder("secret"));
  const std::string path = folder + "/token";
  CAISSON_CHECK_OK(WriteFile(path, kSecret));

  report.Step("Inside: read a file of the host that everyone there may read");
  const std::vector<std::string> argv = {"/usr/bin/cat", path};
  CAISSON_TRY(const OutsideResult outside, RunOutside(argv, folder, {}));
  CAISSON_TRY(const sandbox::CommandResult result, inside.Run(argv, {.name = "read the host's secret"}));
  report.Expect("outside, the same command prints the secret", kSecret, outside.output);
  report.Expect("inside it fails", kExitedOne, OutcomeText(result.outcome));
  report.Expect("inside nothing of the file is printed", "", result.out.kept);
  return {};
}

Status WriteToUsr(Inside& inside, Report& report) {
  const std::string mark = "/usr/bin/caisson-demo-was-here";
  report.Step("Inside, as the sandbox's root: put a program into /usr/bin");
  CAISSON_TRY(const sandbox::CommandResult result,
              inside.Run({"/usr/bin/touch", mark}, {.name = "write to /usr/bin", .user = sandbox::User::kRoot}));
  report.Expect("it fails", kExitedOne, OutcomeText(result.outcome));
  report.Expect("the host's /usr/bin has no such file", "absent",
                access(mark.c_str(), F_OK) == 0 ? "present" : "absent");
  return {};
}

Status ReachTheHost(Inside& inside, const TemporaryFolder& temporary, Report& report) {
  report.Step("Inside: connect to a service on the host's loopback address");
  CAISSON_TRY(const LoopbackListener listener, LoopbackListener::Open());
  const std::string port = std::to_string(listener.port());
  const std::vector<std::string> argv = {"/usr/bin/python3", "-S", "-c",
                                         "import socket; socket.create_connection(('127.0.0.1', " + port + "), 3)"};
  CAISSON_TRY(const OutsideResult outside, RunOutside(argv, temporary.path(), {}));
  CAISSON_TRY(const sandbox::CommandResult result, inside.Run(argv, {.name = "connect to the host", .shown_lines = 1}));
  report.Expect("outside, the same command connects", kExitedZero, outside.outcome);
  report.Expect("inside it fails", kExitedOne, OutcomeText(result.outcome));
  return {};
}

Status DeleteEverything(Inside& inside, const std::string& host_folder, Report& report) {
  report.Step("Inside: delete everything in the workspace");
  CAISSON_TRY(const auto before, ContentsOf(host_folder));
  const std::vector<std::string> argv = {"/usr/bin/find", ".", "-mindepth", "1", "-delete"};
  CAISSON_TRY(const sandbox::CommandResult result, inside.Run(argv, {.name = "delete the workspace"}));
  CAISSON_TRY(const sandbox::CommandResult left, inside.Run({"/usr/bin/ls", "-A"}, {.name = "list the workspace"}));
  CAISSON_TRY(const auto after, ContentsOf(host_folder));
  report.Expect("it works, on the sandbox's own copy", kExitedZero, OutcomeText(result.outcome));
  report.Expect("nothing is left in the copy", "", left.out.kept);
  report.Expect("the host's folder holds what it held", "same", before == after && !after.empty() ? "same" : "changed");
  return {};
}

}  // namespace

Status TryToTouchTheHost(Inside& inside, const TemporaryFolder& temporary, const std::string& host_folder,
                         Report& report) {
  CAISSON_CHECK_OK(ReadASecret(inside, temporary, report));
  CAISSON_CHECK_OK(WriteToUsr(inside, report));
  CAISSON_CHECK_OK(ReachTheHost(inside, temporary, report));
  return DeleteEverything(inside, host_folder, report);
}

}  // namespace caisson::demo
