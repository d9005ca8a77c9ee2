#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <string>

#include "caisson/base/base64.h"
#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/node.h"
#include "caisson/client/files.h"
#include "caisson/client/sandboxes.h"
#include "caisson/sandbox/kept_sandbox.h"
#include "caisson/wire/change_json.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {
namespace {

std::string ListText(const plan::ChangeList& list) {
  std::string text;
  for (const plan::Change& change : list.changes) {
    std::string kind = wire::KindName(change.kind);
    kind.resize(10, ' ');
    text += kind + Printable(change.path) + (change.type == plan::EntryType::kDirectory ? "/\n" : "\n");
  }
  if (list.truncated) text += "and more: the list is cut\n";
  return text;
}

// Of all files and links that changed.
Result<std::string> Patch(sandbox::KeptSandbox& kept, const plan::ChangeList& list, sandbox::Escaping escaping) {
  sandbox::PatchBudget budget;
  std::string patch;
  for (std::uint32_t i = 0; i < list.changes.size(); ++i) {
    CAISSON_TRY(const std::string one, kept.Patch(i, list.changes[i], escaping, budget));
    patch += one;
  }
  return patch + budget.LeftOut();
}

Result<std::string> KeptReport(const CommandLine& line) {
  CAISSON_TRY(sandbox::KeptSandbox kept, sandbox::KeptSandbox::Open({}, line.operands.front()));
  CAISSON_CHECK_OK(kept.StartReading());
  CAISSON_TRY(const plan::ChangeList list, kept.Changes());
  const bool json = line.Has(Option::kJson);
  std::string patch;
  if (line.Has(Option::kPatch)) {
    const bool to_eyes = !json && isatty(STDOUT_FILENO) == 1;
    CAISSON_TRY(patch, Patch(kept, list, to_eyes ? sandbox::Escaping::kForTerminal : sandbox::Escaping::kNone));
    if (!json && list.truncated) PrintNotice("the patch is cut: more has changed than a list holds");
    if (!json) return patch;
  }
  if (!json) return ListText(list);
  boost::json::object object;
  object["sandbox"] = kept.id();
  wire::AddChanges(list, object);
  object["patch"] = nullptr;
  object["encoding"] = nullptr;
  if (line.Has(Option::kPatch)) {
    const bool is_text = IsUtf8(patch);
    object["patch"] = is_text ? patch : Base64(patch);
    object["encoding"] = is_text ? "utf-8" : "base64";
  }
  return wire::JsonLine(object);
}

std::string LivingListText(const client::ChangesView& list) {
  std::string text;
  for (const client::ChangeView& change : list.items) {
    std::string kind = Printable(change.change);
    kind.resize(std::max<std::size_t>(kind.size(), 10), ' ');
    text += kind + Printable(change.path) + (change.type == "directory" ? "/\n" : "\n");
  }
  if (list.truncated) text += "and more: the list is cut\n";
  return text;
}

// Of a sandbox that lives; nothing when the node does not know it.
Result<std::optional<std::string>> LivingReport(const CommandLine& line, const NodeAddress& node) {
  client::Http http(node.endpoint);
  const Result<client::SandboxView> sandbox = client::GetSandbox(http, line.operands.front());
  const bool is_unknown = !sandbox && sandbox.error().code() == Code::kNotFound;
  if (is_unknown && node.chosen == NodeAddress::Chosen::kByDefault) return std::nullopt;
  if (!sandbox) return Fail(sandbox.error());
  if (line.Has(Option::kPatch)) {
    return Fail(Error(Code::kUnsupported, "--patch is not supported for a sandbox that lives")
                    .Because("the daemon lists changes, without their content")
                    .Remedy("leave --patch out, or run diff inside the sandbox"));
  }
  CAISSON_TRY(const client::ChangesView list, client::ListChanges(http, sandbox->id));
  if (!line.Has(Option::kJson)) return LivingListText(list);
  boost::json::object object;
  object["sandbox"] = sandbox->id;
  boost::json::error_code failed;
  object["files_changed"] = boost::json::parse(list.items_json, failed);
  object["files_changed_truncated"] = list.truncated;
  object["patch"] = nullptr;
  object["encoding"] = nullptr;
  return wire::JsonLine(object);
}

Result<std::string> Report(const CommandLine& line, const Environment& environment) {
  CAISSON_TRY(const std::optional<NodeAddress> node, NodeIfAny(line, environment));
  if (node) {
    CAISSON_TRY(const std::optional<std::string> living, LivingReport(line, *node));
    if (living) return *living;
  }
  return KeptReport(line);
}

}  // namespace

int DiffCommand(const CommandLine& line, const Environment& environment) {
  const Result<std::string> report = Report(line, environment);
  if (report) return PrintOrFail(*report, kSuccess, kFailed);
  PrintError(report.error(), line.Has(Option::kJson) ? Format::kJson : Format::kText);
  return kFailed;
}

}  // namespace caisson::cli
