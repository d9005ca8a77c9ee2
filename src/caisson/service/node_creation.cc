// The part of NodeService that makes sandboxes.

#include <chrono>
#include <utility>

#include "caisson/base/sha256.h"
#include "caisson/plan/ticket_text.h"
#include "caisson/service/node_service.h"

namespace caisson::service {
namespace {

using sandbox::Lifecycle;
using std::chrono::seconds;

constexpr std::size_t kLongestName = 63;

Status CheckName(const std::string& name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool is_fine = !name.empty() && name.size() <= kLongestName && is_plain(name.front()) && is_plain(name.back());
  for (const char c : name) is_fine = is_fine && (is_plain(c) || c == '-');
  if (is_fine && !SandboxId::Parse(name)) return {};
  return Fail(Error(Code::kInvalidArgument, "the name of a sandbox is not one")
                  .Because("a name has 1 to 63 of a-z, 0-9 and '-', which is neither first nor last"));
}

Settings SettingsOf(const CreateRequest& request) {
  return {.limits = request.limits,
          .command_timeout = request.command_timeout,
          .storage = request.storage,
          .image = request.image_ticket ? "folder" : "host",
          .workspace = request.workspace_ticket ? "folder" : "",
          .workspace_mode = request.workspace_ticket ? request.workspace_mode : plan::WorkspaceMode::kNone,
          .env = request.env,
          .max_lifetime = request.max_lifetime,
          .sources = request.sources};
}

// What was asked for under a key, in few bytes. Fields are told apart by their lengths.
std::string DigestOf(const CreateRequest& request) {
  std::string text;
  const auto add = [&](std::string_view field) { text.append(std::to_string(field.size())).append(":").append(field); };
  add(request.name.value_or(""));
  for (const auto& [key, value] : request.labels) {
    add(key);
    add(value);
  }
  add(WriteSettings(SettingsOf(request)));
  add(request.image_ticket.value_or(""));
  add(request.workspace_ticket.value_or(""));
  add(request.idle_timeout ? std::to_string(request.idle_timeout->count()) : "");
  add(OnEndName(request.on_end));
  if (request.policy) {
    add(request.policy->preset.value_or(""));
    add(request.policy->text);
    add(request.policy->format == document::Format::kJson ? "json" : "toml");
    add(request.policy->name);
  }
  const Sha256 digest = Sha256Of(text);
  return {digest.begin(), digest.end()};
}

Result<sandbox::SandboxSpec> SpecOf(const CreateRequest& request, plan::Execution execution) {
  sandbox::SandboxSpec spec;
  spec.limits = request.limits;
  spec.storage = request.storage;
  spec.execution = execution;
  if (request.image_ticket) {
    CAISSON_TRY(spec.image_ticket, plan::ParseTicket(*request.image_ticket));
  }
  if (request.workspace_ticket) {
    CAISSON_TRY(spec.workspace_ticket, plan::ParseTicket(*request.workspace_ticket));
    spec.workspace_ticket_mode = request.workspace_mode;
  }
  return spec;
}

state::SandboxRecord NewRecord(const CreateRequest& request, const Settings& settings, const SandboxId& id, UnixMs at) {
  state::SandboxRecord record{.id = id, .name = request.name, .state = "pending", .spec = WriteSettings(settings)};
  record.labels = request.labels;
  record.created_at = at;
  record.changed_at = at;
  record.last_active_at = at;
  record.deadline_at = at + std::chrono::milliseconds(kMakePatience).count();
  record.idle_timeout = request.idle_timeout;
  record.on_end = OnEndName(request.on_end);
  return record;
}

}  // namespace

Result<std::optional<SandboxInfo>> NodeService::Repeated(const Caller& caller, const CreateRequest& request) {
  if (!request.idempotency_key) return std::nullopt;
  CAISSON_TRY(const auto known, node_.database.FindIdempotencyKey(caller.name, *request.idempotency_key));
  if (!known) return std::nullopt;
  if (known->request_sha256 != DigestOf(request)) {
    return Fail(Error(Code::kConflict, "the Idempotency-Key was used for another request"));
  }
  CAISSON_TRY(SandboxInfo info, Describe(known->sandbox));
  if (info.state == Lifecycle::kPending) {
    return Fail(Error(Code::kConflict, "the request with this Idempotency-Key still runs")
                    .Detail("sandbox", info.id.text())
                    .Retryable());
  }
  if (info.state == Lifecycle::kDeleted) {
    return Fail(Error(Code::kConflict, "the sandbox of this Idempotency-Key is gone")
                    .Because(info.reason)
                    .Detail("sandbox", info.id.text()));
  }
  return info;
}

Status NodeService::Admit(const SandboxId& id) {
  const std::unique_lock lock(owners_mutex_);
  if (is_lost_) return Fail(Error(Code::kUnavailable, "the launcher has ended").Retryable());
  if (owners_.size() + being_made_.size() >= node_.limits.sandboxes) {
    return Fail(NoCapacity("the node has as many sandboxes as it may", seconds(1)));
  }
  if (being_made_.insert(id).second) return {};
  return Fail(Error(Code::kConflict, "the sandbox is being started").Retryable());
}

Result<SandboxInfo> NodeService::Create(const Caller& caller, const CreateRequest& request) {
  if (!Includes(caller.permissions, Permission::kManageSandboxes)) {
    return Fail(Error(Code::kPermissionDenied, caller.name + " may not make sandboxes"));
  }
  if (request.name) CAISSON_CHECK_OK(CheckName(*request.name));
  if (request.on_end == OnEnd::kKeep)
    CAISSON_CHECK_OK(SandboxOwner::CheckMayStop(SettingsOf(request), Code::kInvalidArgument));
  CAISSON_TRY(auto repeated, Repeated(caller, request));
  if (repeated) return *std::move(repeated);
  CAISSON_TRY(const CheckedPolicy policy, CheckPolicy(request.policy));
  const SandboxId id = SandboxId::Random();
  CAISSON_CHECK_OK(Admit(id));
  auto made = Make(caller, request, policy, id);
  IsMade(id);
  if (!made && made.error().code() == Code::kConflict && request.idempotency_key) {
    // Somebody was faster with the same key.
    CAISSON_TRY(repeated, Repeated(caller, request));
    if (repeated) return *std::move(repeated);
  }
  return made;
}

void NodeService::IsMade(const SandboxId& id) {
  {
    const std::unique_lock lock(owners_mutex_);
    being_made_.erase(id);
  }
  made_.notify_all();
}

bool NodeService::AwaitMade(const SandboxId& id) {
  std::shared_lock lock(owners_mutex_);
  return made_.wait_for(lock, kMakePatience, [&] { return !being_made_.contains(id); });
}

void NodeService::RecordUntilDone(const state::StateChange& change, const std::string& caller) {
  {
    const std::unique_lock lock(owners_mutex_);
    unrecorded_.insert_or_assign(change.id, Unrecorded{change, caller});
  }
  RecordChanges();
}

void NodeService::RecordChanges() {
  std::map<SandboxId, Unrecorded> all;
  {
    const std::shared_lock lock(owners_mutex_);
    all = unrecorded_;
  }
  for (const auto& [id, one] : all) {
    const Status recorded = RecordState(node_, one.change, one.caller);
    // In another state it was deleted meanwhile, by somebody who asked for that.
    const bool is_done =
        recorded || recorded.error().code() == Code::kConflict || recorded.error().code() == Code::kNotFound;
    if (!is_done) return;
    const std::unique_lock lock(owners_mutex_);
    unrecorded_.erase(id);
  }
}

Status NodeService::Begin(const Caller& caller, const std::shared_ptr<SandboxOwner>& owner, Lifecycle otherwise) {
  {
    const std::unique_lock lock(owners_mutex_);
    owners_.emplace(owner->id(), owner);
  }
  Status begun = owner->Begin(caller.name);
  if (begun) return begun;
  const std::string reason = "it could not be recorded: " + begun.error().message();
  if (owner->End(otherwise, reason, caller.name)) Forget(*owner);
  return begun;
}

Result<SandboxInfo> NodeService::Make(const Caller& caller, const CreateRequest& request, const CheckedPolicy& policy,
                                      const SandboxId& id) {
  const UnixMs at = Now();
  Settings settings = SettingsOf(request);
  settings.execution = guard::ExecutionFor(policy.policy);
  const state::SandboxRecord record = NewRecord(request, settings, id, at);
  std::optional<state::IdempotencyRecord> key;
  if (request.idempotency_key) {
    key = state::IdempotencyRecord{.caller = caller.name,
                                   .key = *request.idempotency_key,
                                   .request_sha256 = DigestOf(request),
                                   .sandbox = id,
                                   .created_at = at};
  }
  CAISSON_TRY(sandbox::SandboxSpec spec, SpecOf(request, settings.execution));
  std::optional<Status> recorded;
  const auto insert = [&]() -> Status {
    const auto inserted = node_.database.InsertSandbox(
        record, key, {.time = at, .type = "sandbox.pending", .sandbox = id.text(), .caller = caller.name},
        policy.record);
    recorded = inserted ? Status() : Fail(inserted.error());
    if (inserted) events_.Tell();
    return *recorded;
  };
  spec.meanwhile = insert;
  auto box = node_.sandboxes.Create(std::move(spec), id);
  if (box && request.on_end == OnEnd::kKeep) {
    // From the first moment: they stay even when everything that looks after them is killed.
    if (Status kept = (*box)->KeepFiles(); !kept) box = Fail(std::move(kept).error());
  }
  if (!box && !recorded) (void)insert();  // what could not be made is told of too
  if (!*recorded) return Fail(std::move(box).error());
  if (!box) {
    if (request.on_end == OnEnd::kKeep) (void)node_.sandboxes.Discard(id, settings.storage);
    RecordUntilDone({.id = id,
                     .from = "pending",
                     .to = "deleted",
                     .at = Now(),
                     .reason = "it could not be made: " + box.error().message(),
                     .deadline_at = {},
                     .also = {}},
                    caller.name);
    return Fail(std::move(box).error());
  }
  const auto owner = std::make_shared<SandboxOwner>(node_,
                                                    SandboxOwner::Description{.id = id,
                                                                              .settings = settings,
                                                                              .idle_timeout = request.idle_timeout,
                                                                              .on_end = request.on_end,
                                                                              .state = Lifecycle::kPending},
                                                    *std::move(box));
  CAISSON_CHECK_OK(Begin(caller, owner, Lifecycle::kDeleted));
  return Describe(id);
}

}  // namespace caisson::service
