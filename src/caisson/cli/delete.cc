#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/sandbox/kept_sandbox.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {

int DeleteCommand(const CommandLine& line) {
  const bool json = line.Has(Option::kJson);
  int status = kSuccess;
  boost::json::array deleted;
  for (const std::string& given : line.operands) {
    auto kept = sandbox::KeptSandbox::Open({}, given);
    const std::string id = kept ? kept->id() : given;
    const Status removed = kept ? std::move(*kept).Delete() : Fail(kept.error());
    if (!removed) {
      PrintError(removed.error(), json ? Format::kJson : Format::kText);
      status = kFailed;
      continue;
    }
    deleted.emplace_back(id);
    if (!json) status = PrintOrFail("deleted " + Printable(id) + "\n", status, kFailed);
  }
  if (!json) return status;
  boost::json::object object;
  object["deleted"] = std::move(deleted);
  return PrintOrFail(wire::JsonLine(object), status, kFailed);
}

}  // namespace caisson::cli
