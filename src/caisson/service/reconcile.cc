// The part of NodeService that brings database and launcher together when a daemon starts.

#include <algorithm>
#include <utility>

#include "caisson/service/lifetime.h"
#include "caisson/service/node_service.h"
#include "caisson/service/sandbox_policy.h"

namespace caisson::service {
namespace {

using sandbox::Lifecycle;

bool IsOver(const std::string& state) { return state == "deleted" || state == "failed"; }
bool HasNoProcesses(const std::string& state) { return IsOver(state) || state == "stopped"; }

std::vector<state::CommandRecord> CommandsOf(const SandboxId& id, const std::vector<state::CommandRecord>& all) {
  std::vector<state::CommandRecord> own;
  std::ranges::copy_if(all, std::back_inserter(own), [&](const auto& record) { return record.sandbox == id; });
  return own;
}

}  // namespace

Status NodeService::Reconcile() {
  // Those that were made before sandboxes had any.
  CAISSON_TRY(const state::PolicyRecord standard, DefaultPolicy());
  CAISSON_CHECK_OK(node_.database.GivePolicyToAllWithout(standard));
  CAISSON_TRY(const auto not_ended, node_.database.CommandsNotEnded());
  CAISSON_TRY(auto survivors, node_.sandboxes.TakeSurvivors());
  Status taken;
  for (auto& survivor : survivors) {
    if (taken) taken = TakeOver(survivor, not_ended);
    // A daemon that does not start ends nothing: the next one may.
    if (!taken && survivor.sandbox && *survivor.sandbox) (*survivor.sandbox)->Leave();
  }
  CAISSON_CHECK_OK(std::move(taken));
  CAISSON_CHECK_OK(RecordMissing(not_ended));
  events_.Tell();
  return {};
}

Status NodeService::TakeOver(sandbox::Sandboxes::Survivor& survivor,
                             const std::vector<state::CommandRecord>& not_ended) {
  if (!survivor.sandbox) return {};  // its record is one without a sandbox, then
  sandbox::Sandbox& box = **survivor.sandbox;
  auto record = node_.database.GetSandbox(survivor.id);
  if (!record && record.error().code() != Code::kNotFound) return Fail(std::move(record).error());
  if (!record || record->state == "pending" || HasNoProcesses(record->state)) {
    // Nobody knows it any more, or yet: of what was being made nobody can say how much is there. What does not end now
    // is ended by the launcher, with all that it has.
    (void)box.Destroy();
    return {};
  }
  auto settings = ReadSettings(record->spec);
  const auto known = sandbox::ParseLifecycle(record->state);
  if (!known) return Fail(Error(Code::kInternal, "the database holds a sandbox in no known state"));
  const Lifecycle state = box.is_frozen() ? Lifecycle::kPaused : Lifecycle::kRunning;
  const std::string name(sandbox::LifecycleName(state));
  const Instant now{std::chrono::steady_clock::now(), Now()};
  const auto used = UsedLifetime(*record, now.time);
  const auto clock = state == Lifecycle::kRunning ? LifetimeClock::kRuns : LifetimeClock::kStands;
  const auto longest = settings ? settings->max_lifetime : std::nullopt;
  const state::SandboxUpdate lifetime = LifetimeUpdate(used, longest, clock, now);
  if (settings && record->state == name) {
    CAISSON_CHECK_OK(node_.database.UpdateSandbox(survivor.id, lifetime));
  } else if (settings) {
    const state::StateChange change{.id = survivor.id,
                                    .from = record->state,
                                    .to = name,
                                    .at = now.time_of_day,
                                    .reason = "as the daemon found it when it started; it had been " + record->state,
                                    .deadline_at = {},
                                    .also = lifetime};
    CAISSON_CHECK_OK(RecordState(node_, change, kDaemon));
  }
  auto owner = std::make_shared<SandboxOwner>(node_,
                                              SandboxOwner::Description{.id = survivor.id,
                                                                        .settings = settings.value_or(Settings()),
                                                                        .idle_timeout = record->idle_timeout,
                                                                        .used_lifetime = used,
                                                                        .on_end = OnEndOf(*record),
                                                                        .state = settings ? state : *known},
                                              *std::move(survivor.sandbox));
  owners_.emplace(survivor.id, owner);
  Status taken = owner->TakeCommands(CommandsOf(survivor.id, not_ended));
  if (taken && !settings) taken = Fail(std::move(settings).error());
  if (taken) return {};
  // What of it cannot be recorded now is tried again with all that others need.
  const std::string reason = "it could not be taken over: " + taken.error().message();
  if (owner->End(Lifecycle::kFailed, reason, kDaemon)) Forget(*owner);
  return {};
}

Status NodeService::RecordMissing(const state::SandboxRecord& record) {
  state::StateChange change{
      .id = record.id, .from = record.state, .to = {}, .at = Now(), .reason = {}, .deadline_at = {}, .also = {}};
  const auto settings = ReadSettings(record.spec);
  if (record.state == "pending") {
    (void)DiscardFiles(record);
    change.to = "deleted";
    change.reason = "the daemon ended while it was made";
  } else if (!settings) {
    change.to = "failed";
    change.reason = settings.error().message();
  } else {
    // What is kept is not given up for an error: whoever resumes it hears of that.
    const auto has_kept = node_.sandboxes.HasKept(record.id, settings->storage);
    change.to = !has_kept || *has_kept ? "stopped" : "failed";
    if (change.to == record.state) return {};
    const bool was_stopped = record.state == "stopped";
    change.reason = was_stopped ? "the files that were kept of it are gone" : "it ended while no daemon had it";
  }
  return RecordState(node_, change, kDaemon);
}

Status NodeService::RecordMissing(const std::vector<state::CommandRecord>& not_ended) {
  state::SandboxFilter filter{.limit = state::kMaxPage};
  while (true) {
    CAISSON_TRY(const state::SandboxPage page, node_.database.ListSandboxes(filter));
    for (const state::SandboxRecord& record : page.sandboxes) {
      if (IsOver(record.state) || owners_.contains(record.id)) continue;
      CAISSON_CHECK_OK(RecordMissing(record));
    }
    if (!page.next_cursor) break;
    filter.cursor = page.next_cursor;
  }
  for (const state::CommandRecord& record : not_ended) {
    if (owners_.contains(record.sandbox)) continue;
    CAISSON_CHECK_OK(RecordLost(node_, record, "its sandbox ended while no daemon had it"));
  }
  return {};
}

}  // namespace caisson::service
