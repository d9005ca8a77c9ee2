#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caisson/base/id.h"
#include "caisson/base/units.h"
#include "caisson/document/document.h"
#include "caisson/hint/hint.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/sandbox/command.h"
#include "caisson/sandbox/lifecycle.h"
#include "caisson/state/policy_record.h"
#include "caisson/tool/data.h"

namespace caisson::service {

// The values that go into the operations of Service and come out of them. Times of day are UTC, in milliseconds since
// 1970.
using UnixMs = std::int64_t;

// What becomes of a sandbox whose time is over.
enum class OnEnd : std::uint8_t { kDelete, kKeep };

// A policy as a caller gives it: a preset by its name, or a text.
struct PolicyRequest {
  std::optional<std::string> preset = {};  // then nothing of what follows counts
  std::string text = {};
  document::Format format = document::Format::kToml;
  std::string name = {};  // what decisions call it: that of its file, at most 255 characters
};

// What becomes of the commands of tools that run while a sandbox is given another policy.
enum class RunningCommands : std::uint8_t { kFinish, kStop };

struct PolicyChange {
  PolicyRequest policy;
  RunningCommands running = RunningCommands::kFinish;
};

struct PolicyInfo {
  std::string name;
  std::string digest;  // SHA-256 of what it says
  enum class Origin : std::uint8_t { kText, kPreset } origin = Origin::kText;
  document::Format format = document::Format::kToml;
  std::string text;
};

// Where the values that somebody chose came from, by the field of the request: "--memory", "caisson.toml:14", "profile
// team", "request". Every other value is the node's default.
using ValueSources = std::map<std::string, std::string>;

struct CreateRequest {
  std::optional<std::string>
      name;  // [a-z0-9]([a-z0-9-]*[a-z0-9])?, at most 63; unique among sandboxes that are not deleted
  std::map<std::string, std::string> labels;
  plan::Limits limits;
  std::chrono::milliseconds command_timeout{30'000};  // of a command that asks for none
  plan::Storage storage = plan::Storage::kBtrfs;
  std::vector<std::pair<std::string, std::string>> env;  // of every command, before the command's own
  std::optional<std::string> image_ticket;  // a folder that was deposited for it (FolderDeposit); absent: `host`
  std::optional<std::string> workspace_ticket;
  plan::WorkspaceMode workspace_mode = plan::WorkspaceMode::kNone;
  std::optional<std::chrono::milliseconds> idle_timeout;  // with no command running and no call that does something
  std::optional<std::chrono::milliseconds> max_lifetime;  // pauses excluded
  OnEnd on_end = OnEnd::kDelete;
  std::optional<PolicyRequest> policy;         // of what tools do in it; absent: the preset `standard`
  ValueSources sources = {};                   // as the caller says
  std::optional<std::string> idempotency_key;  // 1 to 255 visible ASCII characters
};

struct SandboxInfo {
  SandboxId id;
  std::optional<std::string> name;
  sandbox::Lifecycle state = sandbox::Lifecycle::kPending;
  std::string reason;  // why it is in this state; may be empty while it runs as asked
  std::map<std::string, std::string> labels;
  plan::Limits limits;
  std::chrono::milliseconds command_timeout{};
  plan::Storage storage = plan::Storage::kBtrfs;
  std::string image;  // "host", or "folder" for one that was deposited
  std::string workspace;
  plan::WorkspaceMode workspace_mode = plan::WorkspaceMode::kNone;
  std::vector<std::pair<std::string, std::string>> env;
  OnEnd on_end = OnEnd::kDelete;
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::optional<std::chrono::milliseconds> max_lifetime;
  std::optional<ValueSources> sources = {};  // absent: not known
  state::PolicyName policy = {};
  UnixMs created_at = 0;
  UnixMs changed_at = 0;  // of the last change of state
  std::optional<UnixMs> expires_at;
  std::uint64_t steps = 0;
  std::uint32_t commands_running = 0;
};

struct ListRequest {
  std::optional<sandbox::Lifecycle> state;
  std::multimap<std::string, std::string> labels;  // all must be equal
  std::uint32_t limit = 100;                       // 1 to 1,000
  std::optional<std::string> cursor;               // of the page before; opaque
};

template <typename T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next_cursor;  // absent: that was the last page
};

struct CommandRequest {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::string> cwd;
  sandbox::User user = sandbox::User::kAgent;
  std::optional<std::chrono::milliseconds> timeout;
  // Whether somebody will write to its standard input; otherwise that ends at once.
  enum class Input : std::uint8_t { kNone, kOpen } input = Input::kNone;
  std::string stdin_bytes;  // written to it first, at most 1 MiB; then it ends unless kOpen
  sandbox::ReportChanges report_changes = sandbox::ReportChanges::kYes;
  std::optional<PolicyRequest> policy =
      {};  // of this command alone, which then runs as agent; absent: nothing is refused
};

enum class CommandState : std::uint8_t { kRunning, kEnded };

// A step's result: what interfaces call the result object. The outputs hold what is kept of each stream.
struct StepResult {
  std::string tool = "run_command";
  SandboxId sandbox;
  std::uint64_t step = 0;
  std::string command_id;
  sandbox::CommandResult result;
  std::vector<hint::Hint> hints;
  std::optional<tool::Data> data = {};  // of a tool that is no command
};

struct CommandInfo {
  std::string id;  // "cm_" and 26 characters of [a-z2-7]
  SandboxId sandbox;
  std::uint64_t step = 0;
  CommandState state = CommandState::kRunning;
  std::vector<std::string> argv;
  std::string cwd;
  sandbox::User user = sandbox::User::kAgent;
  std::chrono::milliseconds timeout{};
  UnixMs started_at = 0;
  std::optional<UnixMs> ended_at;
  std::uint64_t stdout_bytes = 0;
  std::uint64_t stderr_bytes = 0;
  std::optional<std::string> outcome;  // its name, once it has ended
  std::optional<int> exit_code;
  std::optional<int> signal;
};

// What became of a call at once. One that was refused has ended already.
struct ToolStep {
  CommandInfo command;
  sandbox::DecisionNote decision;
};

enum class Stream : std::uint8_t { kStdout, kStderr };

// Something that happened on the node.
struct Event {
  std::uint64_t number = 0;  // rises by one
  UnixMs time = 0;
  std::string type;     // "sandbox.running", "command.ended", ...
  std::string sandbox;  // id; may be empty
  std::string command;  // id; may be empty
  std::string caller;
  std::string detail;  // a reason or an outcome
};

}  // namespace caisson::service
