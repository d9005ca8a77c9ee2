#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/client/sandboxes.h"
#include "caisson/sandbox/kept_sandbox.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {

namespace {

Result<std::string> DeleteKept(const std::string& given) {
  CAISSON_TRY(sandbox::KeptSandbox kept, sandbox::KeptSandbox::Open({}, given));
  std::string id = kept.id();
  CAISSON_CHECK_OK(std::move(kept).Delete());
  return id;
}

// The id of what was deleted. A node is asked first; what it does not know may have been kept by `run`.
Result<std::string> Delete(const std::optional<NodeAddress>& node, const std::string& given) {
  if (!node) return DeleteKept(given);
  client::Http http(node->endpoint);
  const Result<client::SandboxView> deleted = client::DeleteSandbox(http, given);
  if (deleted) return deleted->id;
  const bool is_unknown = deleted.error().code() == Code::kNotFound;
  if (!is_unknown || node->chosen == NodeAddress::Chosen::kByCaller) return Fail(deleted.error());
  return DeleteKept(given);
}

}  // namespace

int DeleteCommand(const CommandLine& line, const Environment& environment) {
  const bool json = line.Has(Option::kJson);
  const Format format = json ? Format::kJson : Format::kText;
  int status = kSuccess;
  boost::json::array deleted;
  const Result<std::optional<NodeAddress>> node = NodeIfAny(line, environment);
  if (!node) {
    PrintError(node.error(), format);
    return kFailed;
  }
  for (const std::string& given : line.operands) {
    const Result<std::string> removed = Delete(*node, given);
    if (!removed) {
      PrintError(removed.error(), format);
      status = kFailed;
      continue;
    }
    deleted.emplace_back(*removed);
    if (!json) status = PrintOrFail("deleted " + Printable(*removed) + "\n", status, kFailed);
  }
  if (!json) return status;
  boost::json::object object;
  object["deleted"] = std::move(deleted);
  return PrintOrFail(wire::JsonLine(object), status, kFailed);
}

}  // namespace caisson::cli
