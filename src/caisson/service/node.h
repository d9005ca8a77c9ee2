#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/guard/program_source.h"
#include "caisson/policy/decide.h"
#include "caisson/sandbox/command.h"
#include "caisson/sandbox/sandboxes.h"
#include "caisson/service/caller.h"
#include "caisson/service/command_seats.h"
#include "caisson/service/event_feed.h"
#include "caisson/service/requests.h"
#include "caisson/state/database.h"

namespace caisson::service {

// What a node takes on at most. Beyond it the answer is kResourceExhausted, with the detail `retry_after_ms`.
struct NodeLimits {
  std::uint32_t sandboxes = 1000;
  std::uint32_t commands = 256;  // that run at the same time
  std::uint32_t commands_of_a_sandbox = 64;
  Bytes spools = GiB(2);                 // of commands that have ended; the oldest go first
  std::chrono::hours keep_commands{24};  // after their end
  std::uint64_t keep_newest_commands = 10'000;
  std::chrono::hours keep_deleted{1};
};

// What the owners of sandboxes share. References outlive them.
struct Node {
  state::Database& database;
  sandbox::Sandboxes& sandboxes;
  EventFeed& events;
  CommandSeats& commands;
  guard::HostPrograms& host_programs;
  NodeLimits limits;
  // The time of day that policies are judged by.
  std::function<policy::Time()> time_of_day;
};

// Who does what nobody asked for, in events.
inline constexpr const char* kDaemon = "caisson";

// How long a sandbox may take to be made, or to be started again.
inline constexpr std::chrono::seconds kMakePatience{60};

UnixMs Now();
policy::Time TimeOfDay();
// Errors: kPermissionDenied.
Status Permit(const Caller& caller, Permission permission);
std::string NameOf(sandbox::Lifecycle state);
// The error of what cannot be done to a sandbox that has no processes, in the state that its record says.
Error IsAs(const state::SandboxRecord& record);

// Records a step of a sandbox's life with its event, and tells who follows. Errors: those of Database::ChangeState.
Status RecordState(Node& node, const state::StateChange& change, const std::string& caller);

// A sandbox's policy is another from now on.
Status RecordPolicy(Node& node, const SandboxId& id, const state::PolicyRecord& policy, const std::string& caller);

// Of a command whose sandbox ended under it: its processes were killed, and nobody saw how.
sandbox::CommandResult LostResult();
// Records the end of a command with its event, and tells who follows. One that is recorded already, or whose sandbox is
// forgotten, is fine.
Status RecordEnd(Node& node, const state::CommandEnd& end, const state::EventRecord& event);
Status RecordLost(Node& node, const state::CommandRecord& command, const std::string& why);

// The error of a node or sandbox that is full now.
Error NoCapacity(std::string what, std::chrono::milliseconds retry_after);

}  // namespace caisson::service
