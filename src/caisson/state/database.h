#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"
#include "caisson/state/command_record.h"
#include "caisson/state/command_table.h"
#include "caisson/state/connection.h"
#include "caisson/state/event_record.h"
#include "caisson/state/event_table.h"
#include "caisson/state/idempotency_record.h"
#include "caisson/state/idempotency_table.h"
#include "caisson/state/policy_record.h"
#include "caisson/state/policy_table.h"
#include "caisson/state/retention.h"
#include "caisson/state/sandbox_record.h"
#include "caisson/state/sandbox_table.h"

namespace caisson::state {

struct DatabaseOptions {
  std::uint64_t keep_events = 10'000;
  ConnectionOptions connection = {};
};

// What the node remembers: sandboxes, their commands, events, and keys of repeated requests, in the file `caisson.db`
// of the data folder. Thread-safe; one call after the other. What a call did is durable when it returns, also against a
// kill of this process; a power failure may take the newest changes, whole ones, and leaves the file sound. A call that
// fails changed nothing, and the next one works as before. Errors common to all: kResourceExhausted (no space),
// kInvalidArgument (a value the tables refuse), kInternal (damage).
class Database {
 public:
  // `folder` belongs to this process's user, who alone can enter it. Brings older tables to the newest version.
  // Errors: kInternal for damage, naming the file and the remedy (nothing is removed); kUnsupported for a file of a
  // newer Caisson or another program; kPermissionDenied; kUnavailable when another program has it open.
  static Result<std::unique_ptr<Database>> Open(const os::Fd& folder, const DatabaseOptions& options);

  // ---- sandboxes

  // With its policy, whatever `record.policy` says. Errors: kAlreadyExists (the id; the name of one that is not
  // deleted, with the detail `sandbox`); kConflict (the caller has used the key, with the detail `sandbox`). The number
  // of the event.
  Result<std::uint64_t> InsertSandbox(const SandboxRecord& record, const std::optional<IdempotencyRecord>& key,
                                      const EventRecord& event, const std::optional<PolicyRecord>& policy = {});
  // Errors: kNotFound.
  Result<SandboxRecord> GetSandbox(const SandboxId& id);
  // The one of that name which is not deleted.
  Result<std::optional<SandboxRecord>> FindSandbox(std::string_view name);
  // At most `limit` ids that begin so, deleted ones too.
  Result<std::vector<SandboxId>> FindSandboxIds(std::string_view prefix, std::uint32_t limit);
  // Oldest first. One that is made meanwhile comes on a later page; none comes twice. Errors: kInvalidArgument (cursor,
  // limit, number of labels).
  Result<SandboxPage> ListSandboxes(const SandboxFilter& filter);
  // Errors: kNotFound.
  Status UpdateSandbox(const SandboxId& id, const SandboxUpdate& update);
  // The number of the event. From "pending" to "deleted" frees the idempotency key: nothing was made under it.
  // Errors: kNotFound; kConflict when its state is not `from`, naming it and with the detail `state`.
  Result<std::uint64_t> ChangeState(const StateChange& change, const EventRecord& event);
  // States that no sandbox has are left out.
  Result<std::map<std::string, std::uint64_t>> CountSandboxes();
  // How many deleted ones were forgotten, with their commands.
  Result<std::uint64_t> ForgetDeletedSandboxes(const Retention& retention);

  // ---- policies of sandboxes, and the uses of their rules; forgotten with the sandbox

  // Errors: kNotFound. The number of the event.
  Result<std::uint64_t> SetPolicy(const SandboxId& id, const PolicyRecord& policy, const EventRecord& event);
  // For sandboxes that were made before there were policies. How many were given it.
  Result<std::uint64_t> GivePolicyToAllWithout(const PolicyRecord& policy);
  Result<std::optional<PolicyRecord>> GetPolicy(const SandboxId& id);
  // How often the rule was used under the policy of this digest, whichever the sandbox has now.
  Result<std::uint64_t> RuleUses(const SandboxId& id, std::string_view digest, std::string_view rule);
  // Counts the uses of every claim, or of none: false when a rule has fewer left.
  Result<bool> TakeRuleUses(const SandboxId& id, std::string_view digest, const std::vector<UseClaim>& claims);

  // As Connection::ShortenLog.
  Status ShortenLog();

  // ---- commands

  // The sandbox's next step, for what is no command, and the number of its event. Errors: kNotFound; kConflict as
  // ChangeState.
  struct Step {
    std::uint64_t number = 0;
    std::uint64_t event = 0;
  };
  Result<Step> TakeStep(const SandboxId& id, std::string_view sandbox_state, const EventRecord& event);

  // Gives the command its sandbox's next step, whatever `record.step` says, and returns it. The sandbox's state must be
  // `sandbox_state`. Errors: kNotFound; kConflict as ChangeState; kAlreadyExists (the id).
  Result<std::uint64_t> InsertCommand(const CommandRecord& record, std::string_view sandbox_state);
  // Errors: kNotFound; kConflict, with the detail `state`, unless it is starting.
  Status SetCommandRunning(std::string_view id, std::string_view handle);
  // The number of the event. Errors: kNotFound; kConflict when it has ended before.
  Result<std::uint64_t> EndCommand(const CommandEnd& end, const EventRecord& event);
  // With its result. Errors: kNotFound.
  Result<CommandRecord> GetCommand(std::string_view id);
  Result<std::vector<CommandRecord>> ListCommands(const SandboxId& sandbox, const CommandFilter& filter);
  // All of the node, by sandbox and step: what to look for after a restart.
  Result<std::vector<CommandRecord>> CommandsNotEnded();
  Result<std::uint64_t> CountCommandsNotEnded(const SandboxId& sandbox);
  Result<bool> HasCommand(std::string_view id);
  // What the output of all commands takes that have ended, and those of them that ended first. Neither reads a result.
  Result<std::uint64_t> SpoolBytes();
  Result<std::vector<SpoolRecord>> OldestSpools(std::uint32_t limit);
  // Its output takes no room any more.
  Status ForgetSpool(std::string_view command);
  // How many were forgotten.
  Result<std::uint64_t> ForgetEndedCommands(const Retention& retention);

  // ---- events

  Result<std::uint64_t> AppendEvent(const EventRecord& event);
  // At most `limit` (1 to kMaxPage) with a number above `after`, in order. Those that are not kept are passed over.
  Result<std::vector<EventRecord>> EventsAfter(std::uint64_t after, std::uint32_t limit);
  // 0: there was none yet.
  Result<std::uint64_t> NewestEvent();

  // ---- keys of repeated requests

  Result<std::optional<IdempotencyRecord>> FindIdempotencyKey(std::string_view caller, std::string_view key);
  Result<std::uint64_t> ForgetIdempotencyKeys(UnixMs created_before);

 private:
  Database(std::unique_ptr<Connection> connection, SandboxTable sandboxes, CommandTable commands, EventTable events,
           IdempotencyTable keys, PolicyTable policies);
  template <typename Work>
  auto Write(Work work) -> decltype(work());

  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;  // outlives the tables, which hold its statements
  SandboxTable sandboxes_;
  CommandTable commands_;
  EventTable events_;
  IdempotencyTable keys_;
  PolicyTable policies_;
};

}  // namespace caisson::state
