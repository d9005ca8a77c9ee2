#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/guard/gate.h"
#include "caisson/service/requests.h"
#include "caisson/state/command_record.h"
#include "caisson/state/sandbox_record.h"

namespace caisson::service {

// Between the values of the service and the opaque parts of the database's records. Pure; private to the module.
// Reading fails with kInternal on bytes that no release wrote.

// What a sandbox is made as, for as long as it exists.
struct Settings {
  plan::Limits limits;
  std::chrono::milliseconds command_timeout{30'000};
  plan::Storage storage = plan::Storage::kBtrfs;
  std::string image = "host";
  std::string workspace;
  plan::WorkspaceMode workspace_mode = plan::WorkspaceMode::kNone;
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::chrono::milliseconds> max_lifetime;
  plan::Execution execution = plan::Execution::kAnywhere;
  std::optional<ValueSources> sources = {};  // absent: of a sandbox from before they were kept
};
std::string WriteSettings(const Settings& settings);
Result<Settings> ReadSettings(std::string_view bytes);

struct CommandSettings {
  std::vector<std::string> argv;
  std::string cwd;
  sandbox::User user = sandbox::User::kAgent;
  std::string caller;
  std::optional<sandbox::DecisionNote> decision = {};
  std::optional<guard::Stop> stop = {};
};
std::string WriteCommandSettings(const CommandSettings& settings);
Result<CommandSettings> ReadCommandSettings(std::string_view bytes);

// The output is left out: it lies in the spools.
std::string WriteResult(const sandbox::CommandResult& result, const std::vector<hint::Hint>& hints);
struct StoredResult {
  sandbox::CommandResult result;
  std::vector<hint::Hint> hints;
};
Result<StoredResult> ReadResult(std::string_view bytes);

// What a list shows of it, which InfoOf reads.
std::string WriteSummary(const sandbox::Outcome& outcome);

std::string_view OnEndName(OnEnd on_end);
OnEnd OnEndOf(const state::SandboxRecord& record);
// Of a record: what interfaces call a sandbox, less what only its owner knows. One whose record is damaged has failed,
// unless it is deleted, and says so; what cannot be read of it is as a sandbox without settings has it.
SandboxInfo InfoOf(const state::SandboxRecord& record);
// The same of a command. Its result is not needed.
Result<CommandInfo> InfoOf(const state::CommandRecord& record);

}  // namespace caisson::service
