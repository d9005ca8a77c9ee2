// The part of NodeService that starts stopped sandboxes anew, with the files they had.

#include <chrono>
#include <utility>

#include "caisson/service/node_service.h"

namespace caisson::service {
namespace {

using sandbox::Lifecycle;

}  // namespace

Status NodeService::Restart(const Caller& caller, const state::SandboxRecord& record) {
  if (record.state != NameOf(Lifecycle::kStopped)) return Fail(IsAs(record));
  CAISSON_TRY(const Settings settings, ReadSettings(record.spec));
  if (settings.max_lifetime && record.used_lifetime >= *settings.max_lifetime) {
    return Fail(Error(Code::kConflict, "the sandbox has lived as long as it may")
                    .Because("max_lifetime")
                    .Remedy("delete it, and give the next one a longer max_lifetime, or none")
                    .Detail("state", record.state));
  }
  CAISSON_CHECK_OK(Admit(record.id));
  Status made = MakeAgain(caller, record, settings);
  IsMade(record.id);
  return made;
}

Status NodeService::MakeAgain(const Caller& caller, const state::SandboxRecord& record, const Settings& settings) {
  const UnixMs at = Now();
  const state::StateChange begun{.id = record.id,
                                 .from = record.state,
                                 .to = NameOf(Lifecycle::kResuming),
                                 .at = at,
                                 .reason = "started again by " + caller.name,
                                 .deadline_at = at + std::chrono::milliseconds(kMakePatience).count(),
                                 .also = {}};
  // Of two who ask at the same time the second finds it changed.
  CAISSON_CHECK_OK(RecordState(node_, begun, caller.name));

  sandbox::SandboxSpec spec;
  spec.limits = settings.limits;
  spec.storage = settings.storage;
  spec.workspace_ticket_mode = settings.workspace_mode;
  spec.files = plan::Files::kKept;
  spec.execution = settings.execution;
  auto box = node_.sandboxes.Create(std::move(spec), record.id);
  if (!box) {
    const bool is_gone = box.error().code() == Code::kNotFound;
    const state::StateChange back{.id = record.id,
                                  .from = begun.to,
                                  .to = NameOf(is_gone ? Lifecycle::kFailed : Lifecycle::kStopped),
                                  .at = Now(),
                                  .reason = "it could not be started again: " + box.error().message(),
                                  .deadline_at = {},
                                  .also = {}};
    RecordUntilDone(back, caller.name);
    return Fail(std::move(box).error());
  }
  const auto owner = std::make_shared<SandboxOwner>(node_,
                                                    SandboxOwner::Description{.id = record.id,
                                                                              .settings = settings,
                                                                              .idle_timeout = record.idle_timeout,
                                                                              .used_lifetime = record.used_lifetime,
                                                                              .on_end = OnEndOf(record),
                                                                              .state = Lifecycle::kResuming},
                                                    *std::move(box));
  return Begin(caller, owner, Lifecycle::kStopped);
}

}  // namespace caisson::service
