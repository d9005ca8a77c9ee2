#include "caisson/sandbox/sandboxes.h"

#include <signal.h>

#include "caisson/backend/data_folders.h"
#include "caisson/backend/instance.h"
#include "caisson/backend/launcher_link.h"
#include "caisson/os/identity.h"
#include "caisson/storage/workspace_copy.h"

namespace caisson::sandbox {
namespace {

plan::LaunchPlan MakePlan(const SandboxSpec& spec, const SandboxId& id) {
  plan::LaunchPlan plan{};
  plan.image = spec.image || spec.image_ticket ? plan::Image::kDirectory : plan::Image::kHost;
  plan.storage = spec.storage;
  plan.workspace = spec.workspace ? spec.workspace->mode : plan::WorkspaceMode::kNone;
  if (spec.image_ticket) plan.image_ticket = *spec.image_ticket;
  if (spec.workspace_ticket) plan.workspace_ticket = *spec.workspace_ticket;
  if (spec.workspace_ticket || spec.files == plan::Files::kKept) plan.workspace = spec.workspace_ticket_mode;
  plan.files = spec.files;
  plan.execution = spec.execution;
  plan.pids = spec.limits.pids;
  plan.memory_bytes = spec.limits.memory.value;
  plan.disk_bytes = spec.limits.disk.value;
  plan.milli_cpus = spec.limits.cpus.value;
  id.text().copy(plan.id, sizeof plan.id - 1);
  return plan;
}

plan::LaunchPlan PlanOfKept(const SandboxId& id, plan::Storage storage) {
  plan::LaunchPlan plan{};
  plan.storage = storage;
  id.text().copy(plan.id, sizeof plan.id - 1);
  return plan;
}

}  // namespace

SandboxSpec::SandboxSpec() = default;
SandboxSpec::SandboxSpec(SandboxSpec&&) noexcept = default;
SandboxSpec& SandboxSpec::operator=(SandboxSpec&&) noexcept = default;
SandboxSpec::~SandboxSpec() = default;

Sandboxes::Sandboxes(std::unique_ptr<backend::LauncherLink> link, std::string data_directory, os::Fd data, os::Fd spool)
    : link_(std::move(link)),
      data_directory_(std::move(data_directory)),
      data_(std::move(data)),
      spool_directory_(std::move(spool)) {}

Sandboxes::~Sandboxes() = default;

Result<std::unique_ptr<Sandboxes>> Sandboxes::Start(const EngineOptions& options) {
  CAISSON_CHECK_OK(os::RequireRoot("set up a sandbox"));
  // A command that closes its input must not end the engine.
  signal(SIGPIPE, SIG_IGN);
  CAISSON_TRY(backend::DataFolders folders,
              backend::DataFolders::Open(options.data_directory, options.runtime_directory));
  CAISSON_TRY(auto link, backend::LauncherLink::Start(options.program_directory, folders, options.expect));
  return std::unique_ptr<Sandboxes>(
      new Sandboxes(std::move(link), options.data_directory, std::move(folders.data), std::move(folders.spool)));
}

Result<os::Fd> Sandboxes::OpenStateFolder(const EngineOptions& options) {
  CAISSON_CHECK_OK(os::RequireRoot("set up a sandbox"));
  CAISSON_TRY(backend::DataFolders folders,
              backend::DataFolders::Open(options.data_directory, options.runtime_directory));
  return std::move(folders.state);
}

Result<std::unique_ptr<Sandboxes>> Sandboxes::StartOrTakeOver(EngineOptions options) {
  CAISSON_CHECK_OK(os::RequireRoot("set up a sandbox"));
  signal(SIGPIPE, SIG_IGN);
  options.expect = plan::Expect::kEngines;
  CAISSON_TRY(backend::DataFolders folders,
              backend::DataFolders::Open(options.data_directory, options.runtime_directory));
  // One that is just about to end, since it has no sandbox left, does not answer.
  auto link = backend::LauncherLink::FindLiving(folders);
  if (!link && link.error().code() != Code::kUnavailable) return Fail(std::move(link).error());
  if (!link || *link == nullptr) {
    link = backend::LauncherLink::Start(options.program_directory, folders, options.expect);
    if (!link) return Fail(std::move(link).error());
  }
  return std::unique_ptr<Sandboxes>(
      new Sandboxes(*std::move(link), options.data_directory, std::move(folders.data), std::move(folders.spool)));
}

Result<std::vector<Sandboxes::Survivor>> Sandboxes::TakeSurvivors() {
  std::vector<Survivor> survivors;
  std::uint32_t slot = 0;
  while (true) {
    CAISSON_TRY(auto next, link_->NextSandbox(slot));
    if (!next) return survivors;
    slot = next->slot;
    auto taken = backend::Instance::TakeOver(*link_, slot);
    if (!taken) {
      (void)link_->Forget(slot);
      survivors.push_back({std::move(next->id), Fail(std::move(taken).error())});
      continue;
    }
    auto sandbox = Sandbox::TakeOver(std::move(taken->instance), next->id, spool_directory_.get(),
                                     taken->is_frozen ? Sandbox::State::kIsFrozen : Sandbox::State::kRuns);
    survivors.push_back({std::move(next->id), std::move(sandbox)});
  }
}

int Sandboxes::launcher_fd() const { return link_->connection(); }

Status Sandboxes::GiveUpPrivileges() {
  CAISSON_CHECK_OK(link_->Seal());
  return os::BecomeEngineUser();
}

Status Sandboxes::CopyWorkspace(const SandboxId& id, SandboxSpec& spec, Sandbox::Origin& origin) const {
  CAISSON_TRY(storage::WorkspaceCopy copy,
              storage::MakeWorkspaceCopy(data_, id.text(), spec.workspace->directory, spec.copy_progress));
  origin.workspace_directory = data_directory_ + "/" + copy.path;
  origin.workspace_copy = std::move(copy.lock);
  spec.workspace->directory = std::move(copy.folder);
  return {};
}

Result<bool> Sandboxes::HasKept(const SandboxId& id, plan::Storage storage) {
  if (storage == plan::Storage::kTmpfs) return false;
  return link_->HasKept(PlanOfKept(id, storage));
}

Status Sandboxes::Discard(const SandboxId& id, plan::Storage storage) {
  if (storage == plan::Storage::kTmpfs) return {};
  Status discarded = link_->DiscardKept(PlanOfKept(id, storage));
  if (!discarded && discarded.error().code() == Code::kNotFound) return {};
  return discarded;
}

Result<std::unique_ptr<Sandbox>> Sandboxes::Create(SandboxSpec spec) {
  return Create(std::move(spec), SandboxId::Random());
}

Result<std::unique_ptr<Sandbox>> Sandboxes::Create(SandboxSpec spec, SandboxId id) {
  Sandbox::Origin origin;
  if (spec.image) origin.image_directory = os::PathOf(*spec.image);
  if (spec.workspace && spec.workspace->mode == plan::WorkspaceMode::kCopy) {
    origin.workspace_directory = os::PathOf(spec.workspace->directory);
    if (spec.stays == Stays::kYes) CAISSON_CHECK_OK(CopyWorkspace(id, spec, origin));
  }
  std::vector<int> fds;
  if (spec.image) fds.push_back(spec.image->get());
  if (spec.workspace) fds.push_back(spec.workspace->directory.get());
  CAISSON_TRY(auto instance, backend::Instance::Create(*link_, MakePlan(spec, id), fds, spec.meanwhile));
  return std::make_unique<Sandbox>(std::move(instance), std::move(id), std::move(origin), spool_directory_.get());
}

}  // namespace caisson::sandbox
