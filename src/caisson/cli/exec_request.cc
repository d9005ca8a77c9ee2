#include "caisson/cli/exec_request.h"

#include "caisson/base/utf8.h"
#include "caisson/cli/option_values.h"

namespace caisson::cli {

Result<ExecRequest> ReadExecRequest(const CommandLine& line) {
  constexpr Choice<const char*> kUsers[] = {{"agent", "agent"}, {"root", "root"}};
  ExecRequest request;
  request.sandbox = line.operands.front();
  CAISSON_TRY(request.start.user, ReadChoice<const char*>(line, Option::kUser, kUsers, "agent"));
  if (const OptionValue* timeout = line.Find(Option::kExecTimeout)) {
    CAISSON_TRY(request.start.timeout, ParseDuration(timeout->text, timeout->source));
  }
  if (const OptionValue* cwd = line.Find(Option::kCwd)) {
    if (cwd->text.empty()) return Fail(Refused(cwd->source, cwd->text, "expected a folder of the sandbox"));
    request.start.cwd = cwd->text;
  }
  CAISSON_TRY(request.start.env, ReadVariables(line));
  CAISSON_TRY(request.start.argv, ReadProgram(line));
  CAISSON_CHECK_OK(CheckSizes(request.start.argv, request.start.env));
  if (line.Has(Option::kQuiet)) request.notices = Notices::kQuiet;
  if (line.Has(Option::kJson)) request.output = Output::kJson;
  if (line.Has(Option::kNoStdin) || line.Has(Option::kBackground)) request.forward = Forward::kNothing;
  if (line.Has(Option::kBackground)) request.ends = Ends::kInBackground;
  return request;
}

}  // namespace caisson::cli
