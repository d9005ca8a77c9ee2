// What the daemon reads from its database, in a file that somebody may have changed.
// Input: which kind of record, then its bytes.

#include <string>

#include "caisson/sandbox/outcome.h"
#include "caisson/service/records.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace plan = caisson::plan;
namespace sandbox = caisson::sandbox;
namespace service = caisson::service;
namespace state = caisson::state;

void RequireDamage(const caisson::Error& error) {
  Require(error.code() == caisson::Code::kInternal, "bytes that cannot be are damage");
  Require(!error.message().empty() && !error.remediation().empty(), "damage says what to do");
}

void ReadSandbox(std::string_view bytes) {
  const auto settings = service::ReadSettings(bytes);
  if (!settings) return RequireDamage(settings.error());
  Require(settings->storage <= plan::Storage::kBtrfs, "a storage is one there is");
  Require(settings->workspace_mode <= plan::WorkspaceMode::kReadWrite, "a mode is one there is");
  const auto again = service::ReadSettings(service::WriteSettings(*settings));
  Require(again && service::WriteSettings(*again) == service::WriteSettings(*settings), "what is read can be written");
}

void ReadCommand(std::string_view bytes) {
  const auto settings = service::ReadCommandSettings(bytes);
  if (!settings) return RequireDamage(settings.error());
  Require(settings->user <= sandbox::User::kRoot, "a user is one there is");
  const std::string written = service::WriteCommandSettings(*settings);
  const auto again = service::ReadCommandSettings(written);
  Require(again && service::WriteCommandSettings(*again) == written, "what is read can be written");
}

void ReadResult(std::string_view bytes) {
  const auto stored = service::ReadResult(bytes);
  if (!stored) return RequireDamage(stored.error());
  const sandbox::CommandResult& result = stored->result;
  Require(!sandbox::OutcomeName(result.outcome).empty(), "an outcome has a name");
  const int status = sandbox::ExitStatus(result.outcome);
  (void)status;
  if (result.files_changed) {
    for (const plan::Change& change : result.files_changed->changes) {
      Require(change.kind <= plan::ChangeKind::kMetadata && change.type <= plan::EntryType::kOther,
              "a change is one there is");
    }
  }
  const std::string written = service::WriteResult(result, stored->hints);
  const auto again = service::ReadResult(written);
  Require(again && service::WriteResult(again->result, again->hints) == written, "what is read can be written");
}

void ReadSummary(std::string_view bytes) {
  state::CommandRecord record{.id = "cm_a", .sandbox = caisson::SandboxId::Random()};
  record.state = state::CommandState::kEnded;
  record.summary = bytes;
  const auto info = service::InfoOf(record);
  if (!info) return RequireDamage(info.error());
  Require(info->outcome && !info->outcome->empty(), "a command that has ended has an outcome");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const auto kind = input.Take<std::uint8_t>() % 4;
  const std::string_view bytes = input.TakeRest();
  if (kind == 0) ReadSandbox(bytes);
  if (kind == 1) ReadCommand(bytes);
  if (kind == 2) ReadResult(bytes);
  if (kind == 3) ReadSummary(bytes);
  return 0;
}
