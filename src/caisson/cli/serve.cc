#include <unistd.h>

#include <cerrno>

#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/serve_request.h"
#include "caisson/os/identity.h"
#include "caisson/os/program_folder.h"

namespace caisson::cli {
namespace {

// Does not return when it succeeds: this process is the daemon then.
Status Serve(const CommandLine& line) {
  CAISSON_TRY(std::vector<std::string> words, DaemonArguments(line));
  CAISSON_CHECK_OK(os::RequireRoot("be the daemon of this host"));
  CAISSON_TRY(const std::string folder, os::ProgramFolder());
  words.insert(words.begin(), folder + "/caisson-daemon");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  (void)execv(argv.front(), argv.data());
  return Fail(
      Error::FromErrno(errno, "cannot start " + Quoted(words.front())).Remedy("put caisson-daemon beside caisson"));
}

}  // namespace

int ServeCommand(const CommandLine& line) {
  const Status failed = Serve(line);
  const bool is_usage = failed.error().code() == Code::kInvalidArgument;
  PrintError(failed.error(), Format::kText);
  return is_usage ? kUsageError : kFailed;
}

}  // namespace caisson::cli
