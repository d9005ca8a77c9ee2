#include "caisson/service/node_service.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "caisson/sandbox/command_output.h"

namespace caisson::service {
namespace {

using sandbox::Lifecycle;

Error NoSuchSandbox(std::string_view name) {
  return Error(Code::kNotFound, "there is no sandbox " + std::string(name)).Remedy("see which there are: caisson list");
}

Error NoSuchCommand(std::string_view id) { return {Code::kNotFound, "the sandbox has no command " + std::string(id)}; }

Error HasEnded() { return {Code::kConflict, "the command has ended"}; }

// What a result has of a stream of which there were so many bytes.
sandbox::CapturedOutput CaptureOf(const sandbox::CommandOutput& output, sandbox::OutputStreamKind stream,
                                  std::uint64_t bytes) {
  sandbox::CapturedOutput captured = output.Capture(stream, MiB(1));
  if (captured.total_bytes >= bytes) return captured;
  captured.total_bytes = bytes;  // the file is gone
  captured.truncated = true;
  return captured;
}

// A reader of a command's output, for a face.
class Follower : public OutputFollower {
 public:
  explicit Follower(std::unique_ptr<sandbox::OutputReader> reader) : reader_(std::move(reader)) {}

  Result<std::optional<Chunk>> Next(std::size_t limit) override {
    CAISSON_TRY(auto chunk, reader_->Next(limit));
    if (!chunk) return std::nullopt;
    return Told(*std::move(chunk));
  }
  Result<std::optional<Place>> NextPlace(std::size_t limit) override {
    CAISSON_TRY(auto place, reader_->NextPlace(limit));
    if (!place) return std::nullopt;
    const Slice slice{.file = place->file, .offset = place->chunk.offset, .length = place->length};
    return Place{.chunk = Told(std::move(place->chunk)), .slice = slice};
  }
  bool Finished() const override { return reader_->Finished(); }
  void Await(std::function<void()> ready) override { reader_->Await(std::move(ready)); }
  void Cancel() override { reader_->Cancel(); }

 private:
  static Chunk Told(sandbox::OutputReader::Chunk chunk) {
    return {.stream = chunk.stream == sandbox::OutputStreamKind::kStdout ? Stream::kStdout : Stream::kStderr,
            .offset = chunk.offset,
            .bytes = std::move(chunk.bytes),
            .dropped = chunk.dropped};
  }

  std::unique_ptr<sandbox::OutputReader> reader_;
};

}  // namespace

NodeService::NodeService(state::Database& database, sandbox::Sandboxes& sandboxes, const NodeLimits& limits,
                         std::function<void()> lost, std::function<policy::Time()> time_of_day)
    : events_(database),
      commands_(limits.commands),
      node_{database, sandboxes, events_, commands_, host_programs_, limits, std::move(time_of_day)},
      spools_(sandboxes.spool_directory(), database),
      lost_(std::move(lost)) {}

Result<std::unique_ptr<NodeService>> NodeService::Start(state::Database& database, sandbox::Sandboxes& sandboxes,
                                                        const NodeLimits& limits, std::function<void()> lost,
                                                        std::function<policy::Time()> time_of_day) {
  std::unique_ptr<NodeService> service(
      new NodeService(database, sandboxes, limits, std::move(lost), std::move(time_of_day)));
  service->wake_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!service->wake_.valid()) return Fail(Error::FromErrno(errno, "cannot make an event"));
  CAISSON_CHECK_OK(service->Reconcile());
  service->watch_ = std::thread([raw = service.get()] { raw->Watch(); });
  return service;
}

NodeService::~NodeService() {
  leaving_ = true;
  const std::uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
  if (watch_.joinable()) watch_.join();
}

std::size_t NodeService::CountSandboxes() const {
  const std::shared_lock lock(owners_mutex_);
  return owners_.size() + being_made_.size();
}

Result<SandboxId> NodeService::Resolve(std::string_view sandbox) const {
  if (auto id = SandboxId::Parse(sandbox)) return id;
  CAISSON_TRY(const auto named, node_.database.FindSandbox(sandbox));
  if (named) return named->id;
  constexpr std::size_t kShortestPrefix = 4;  // "sb_" and one more
  if (!sandbox.starts_with("sb_") || sandbox.size() < kShortestPrefix) return Fail(NoSuchSandbox(sandbox));
  CAISSON_TRY(auto ids, node_.database.FindSandboxIds(sandbox, 2));
  if (ids.empty()) return Fail(NoSuchSandbox(sandbox));
  if (ids.size() > 1) {
    return Fail(Error(Code::kInvalidArgument, "several sandboxes have an id that begins with " + std::string(sandbox)));
  }
  return std::move(ids.front());
}

std::shared_ptr<SandboxOwner> NodeService::FindOwner(const SandboxId& id) const {
  const std::shared_lock lock(owners_mutex_);
  const auto found = owners_.find(id);
  return found == owners_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<SandboxOwner>> NodeService::Owners() const {
  const std::shared_lock lock(owners_mutex_);
  std::vector<std::shared_ptr<SandboxOwner>> all;
  for (const auto& [id, owner] : owners_) all.push_back(owner);
  return all;
}

void NodeService::Forget(const SandboxOwner& owner) {
  std::shared_ptr<SandboxOwner> last;  // destroyed without the lock
  const std::unique_lock lock(owners_mutex_);
  const auto found = owners_.find(owner.id());
  if (found == owners_.end() || found->second.get() != &owner) return;
  last = std::move(found->second);
  owners_.erase(found);
}

Result<std::shared_ptr<SandboxOwner>> NodeService::OwnerOf(const Caller& caller, Permission permission,
                                                           std::string_view sandbox) const {
  CAISSON_CHECK_OK(Permit(caller, permission));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  if (auto owner = FindOwner(id)) return owner;
  CAISSON_TRY(const state::SandboxRecord record, node_.database.GetSandbox(id));
  return Fail(IsAs(record));
}

Result<SandboxInfo> NodeService::Describe(const SandboxId& id) const {
  CAISSON_TRY(const state::SandboxRecord record, node_.database.GetSandbox(id));
  SandboxInfo info = InfoOf(record);
  if (const auto owner = FindOwner(id)) info.commands_running = owner->CountCommands();
  return info;
}

Result<SandboxInfo> NodeService::Get(const Caller& caller, std::string_view sandbox) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kReadSandboxes));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  return Describe(id);
}

Result<Page<SandboxInfo>> NodeService::List(const Caller& caller, const ListRequest& request) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kReadSandboxes));
  state::SandboxFilter filter{.labels = request.labels, .limit = request.limit, .cursor = request.cursor};
  if (request.state) filter.state = std::string(sandbox::LifecycleName(*request.state));
  CAISSON_TRY(state::SandboxPage page, node_.database.ListSandboxes(filter));
  Page<SandboxInfo> infos;
  infos.next_cursor = std::move(page.next_cursor);
  for (const state::SandboxRecord& record : page.sandboxes) {
    SandboxInfo info = InfoOf(record);
    if (const auto owner = FindOwner(record.id)) info.commands_running = owner->CountCommands();
    infos.items.push_back(std::move(info));
  }
  return infos;
}

Result<SandboxInfo> NodeService::Pause(const Caller& caller, std::string_view sandbox) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kManageSandboxes, sandbox));
  CAISSON_CHECK_OK(owner->Pause(caller));
  return Describe(owner->id());
}

Result<SandboxInfo> NodeService::Resume(const Caller& caller, std::string_view sandbox) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kManageSandboxes));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  if (const auto owner = FindOwner(id)) {
    CAISSON_CHECK_OK(owner->Resume(caller));
    return Describe(id);
  }
  CAISSON_TRY(const state::SandboxRecord record, node_.database.GetSandbox(id));
  CAISSON_CHECK_OK(Restart(caller, record));
  return Describe(id);
}

Result<SandboxInfo> NodeService::Stop(const Caller& caller, std::string_view sandbox) {
  const auto owner = OwnerOf(caller, Permission::kManageSandboxes, sandbox);
  if (owner) {
    CAISSON_CHECK_OK((*owner)->Stop("stopped by " + caller.name, caller.name));
    Forget(**owner);
    return Describe((*owner)->id());
  }
  if (owner.error().code() != Code::kConflict) return Fail(owner.error());
  CAISSON_TRY(SandboxInfo info, Get(caller, sandbox));
  if (info.state != Lifecycle::kStopped) return Fail(owner.error());
  return info;
}

Status NodeService::DiscardFiles(const state::SandboxRecord& record) {
  if (const auto settings = ReadSettings(record.spec)) return node_.sandboxes.Discard(record.id, settings->storage);
  for (const plan::Storage storage : {plan::Storage::kDirectory, plan::Storage::kBtrfs}) {
    CAISSON_CHECK_OK(node_.sandboxes.Discard(record.id, storage));
  }
  return {};
}

Result<SandboxInfo> NodeService::Delete(const Caller& caller, std::string_view sandbox) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kManageSandboxes));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  const std::string reason = "deleted by " + caller.name;
  if (!AwaitMade(id)) {
    return Fail(Error(Code::kConflict, "the sandbox is being made").Detail("state", "pending").Retryable());
  }
  if (const auto owner = FindOwner(id)) {
    CAISSON_CHECK_OK(owner->End(Lifecycle::kDeleted, reason, caller.name));
    Forget(*owner);
    return Describe(id);
  }
  CAISSON_TRY(const state::SandboxRecord record, node_.database.GetSandbox(id));
  if (record.state != sandbox::LifecycleName(Lifecycle::kDeleted)) {
    CAISSON_CHECK_OK(DiscardFiles(record));
    const state::StateChange change{
        .id = id, .from = record.state, .to = "deleted", .at = Now(), .reason = reason, .deadline_at = {}, .also = {}};
    CAISSON_CHECK_OK(RecordState(node_, change, caller.name));
  }
  return Describe(id);
}

Result<CommandInfo> NodeService::StartCommand(const Caller& caller, std::string_view sandbox,
                                              const CommandRequest& request) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kRunCommands, sandbox));
  std::optional<CheckedPolicy> policy;
  if (request.policy) {
    CAISSON_TRY(policy, CheckPolicy(request.policy));
  }
  return owner->StartCommand(caller, request, policy);
}

Result<state::CommandRecord> NodeService::RecordOf(const Caller& caller, Permission permission,
                                                   std::string_view sandbox, std::string_view command) const {
  CAISSON_CHECK_OK(Permit(caller, permission));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  auto record = node_.database.GetCommand(command);
  if (!record && record.error().code() == Code::kNotFound) return Fail(NoSuchCommand(command));
  if (record && record->sandbox != id) return Fail(NoSuchCommand(command));
  return record;
}

Result<CommandInfo> NodeService::Describe(const state::CommandRecord& record) const {
  CAISSON_TRY(CommandInfo info, InfoOf(record));
  if (info.state == CommandState::kEnded) return info;
  const auto owner = FindOwner(record.sandbox);
  const auto running = owner == nullptr ? nullptr : owner->FindCommand(record.id);
  if (running == nullptr || running->command() == nullptr) return info;
  const sandbox::CommandOutput& output = *running->command()->output();
  info.stdout_bytes = output.total(sandbox::OutputStreamKind::kStdout);
  info.stderr_bytes = output.total(sandbox::OutputStreamKind::kStderr);
  return info;
}

Result<CommandInfo> NodeService::GetCommand(const Caller& caller, std::string_view sandbox, std::string_view command) {
  CAISSON_TRY(const auto record, RecordOf(caller, Permission::kReadSandboxes, sandbox, command));
  return Describe(record);
}

Result<std::vector<CommandInfo>> NodeService::ListCommands(const Caller& caller, std::string_view sandbox) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kReadSandboxes));
  CAISSON_TRY(const SandboxId id, Resolve(sandbox));
  CAISSON_TRY(const auto records, node_.database.ListCommands(id, {}));
  std::vector<CommandInfo> infos;
  for (const state::CommandRecord& record : records) {
    CAISSON_TRY(CommandInfo info, Describe(record));
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<std::shared_ptr<sandbox::CommandOutput>> NodeService::OpenOutput(const state::CommandRecord& record) const {
  return sandbox::CommandOutput::Open(node_.sandboxes.spool_directory(), record.id,
                                      sandbox::CommandOutput::Command::kEnded);
}

Result<StepResult> NodeService::ResultOf(const Caller& caller, std::string_view sandbox, std::string_view command) {
  CAISSON_TRY(const auto record, RecordOf(caller, Permission::kRunCommands, sandbox, command));
  if (!record.result) return Fail(Error(Code::kConflict, "the command still runs").Detail("state", "running"));
  CAISSON_TRY(StoredResult stored, ReadResult(*record.result));
  StepResult step{.sandbox = record.sandbox,
                  .step = record.step,
                  .command_id = record.id,
                  .result = std::move(stored.result),
                  .hints = std::move(stored.hints)};
  CAISSON_TRY(const auto output, OpenOutput(record));
  step.result.out = CaptureOf(*output, sandbox::OutputStreamKind::kStdout, record.stdout_bytes);
  step.result.err = CaptureOf(*output, sandbox::OutputStreamKind::kStderr, record.stderr_bytes);
  return step;
}

Status NodeService::AwaitEnd(const Caller& caller, std::string_view sandbox, std::string_view command,
                             std::function<void()> ended) {
  CAISSON_TRY(const auto record, RecordOf(caller, Permission::kRunCommands, sandbox, command));
  const auto owner = FindOwner(record.sandbox);
  const auto running = owner == nullptr ? nullptr : owner->FindCommand(record.id);
  if (running == nullptr) {
    ended();
  } else {
    running->OnEnd(std::move(ended));
  }
  return {};
}

Result<std::unique_ptr<OutputFollower>> NodeService::FollowOutput(const Caller& caller, std::string_view sandbox,
                                                                  std::string_view command, std::uint64_t stdout_from,
                                                                  std::uint64_t stderr_from) {
  CAISSON_TRY(const auto record, RecordOf(caller, Permission::kRunCommands, sandbox, command));
  const auto owner = FindOwner(record.sandbox);
  const auto running = owner == nullptr ? nullptr : owner->FindCommand(record.id);
  if (running != nullptr && running->command() == nullptr && !running->has_ended()) {
    return Fail(Error(Code::kConflict, "the command is being started").Retryable());
  }
  std::shared_ptr<sandbox::CommandOutput> output;
  if (running != nullptr && running->command() != nullptr) {
    output = running->command()->output();
  } else {
    CAISSON_TRY(output, OpenOutput(record));
    if (output->total(sandbox::OutputStreamKind::kStdout) < record.stdout_bytes ||
        output->total(sandbox::OutputStreamKind::kStderr) < record.stderr_bytes) {
      return Fail(Error(Code::kNotFound, "the command's output is not kept any more"));
    }
  }
  return std::unique_ptr<OutputFollower>(std::make_unique<Follower>(output->Follow(stdout_from, stderr_from)));
}

Result<NodeService::Held> NodeService::Running(const Caller& caller, std::string_view sandbox,
                                               std::string_view command) const {
  CAISSON_TRY(const auto record, RecordOf(caller, Permission::kRunCommands, sandbox, command));
  auto owner = FindOwner(record.sandbox);
  auto running = owner == nullptr ? nullptr : owner->FindCommand(record.id);
  if (running == nullptr || running->has_ended() || running->command() == nullptr) return Fail(HasEnded());
  return Held{.owner = std::move(owner), .running = std::move(running)};
}

Result<std::size_t> NodeService::WriteInput(const Caller& caller, std::string_view sandbox, std::string_view command,
                                            std::string_view bytes) {
  CAISSON_TRY(const auto running, Running(caller, sandbox, command));
  return running->WriteInput(bytes);
}

Status NodeService::CloseInput(const Caller& caller, std::string_view sandbox, std::string_view command) {
  CAISSON_TRY(const auto running, Running(caller, sandbox, command));
  return running->CloseInput();
}

Status NodeService::Signal(const Caller& caller, std::string_view sandbox, std::string_view command, int signal) {
  CAISSON_TRY(const auto running, Running(caller, sandbox, command));
  // While the sandbox runs: a frozen guest does not answer, and one that does not is taken for lost.
  return running.owner->Use<void>([&](sandbox::Sandbox& /*box*/) { return running->Signal(signal); });
}

Status NodeService::Cancel(const Caller& caller, std::string_view sandbox, std::string_view command) {
  const auto running = Running(caller, sandbox, command);
  if (!running && running.error().code() == Code::kConflict) return {};
  if (!running) return Fail(running.error());
  (*running)->Cancel();
  return {};
}

Result<sandbox::FileContent> NodeService::ReadFile(const Caller& caller, std::string_view sandbox,
                                                   std::string_view path, std::uint64_t offset, Bytes limit) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kReadFiles, sandbox));
  return owner->Use<sandbox::FileContent>(
      [&](sandbox::Sandbox& box) { return sandbox::Files(box).Read(path, offset, limit); });
}

Result<sandbox::Wrote> NodeService::WriteFile(const Caller& caller, std::string_view sandbox, std::string_view path,
                                              std::string_view content, sandbox::IfExists if_exists) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kWriteFiles, sandbox));
  return owner->Use<sandbox::Wrote>(
      [&](sandbox::Sandbox& box) { return sandbox::Files(box).Write(path, content, if_exists); });
}

Result<std::vector<sandbox::FileEntry>> NodeService::ListFolder(const Caller& caller, std::string_view sandbox,
                                                                std::string_view path) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kReadFiles, sandbox));
  return owner->Use<std::vector<sandbox::FileEntry>>(
      [&](sandbox::Sandbox& box) { return sandbox::Files(box).List(path); });
}

Status NodeService::DeleteFile(const Caller& caller, std::string_view sandbox, std::string_view path) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kWriteFiles, sandbox));
  return owner->Use<void>([&](sandbox::Sandbox& box) { return sandbox::Files(box).Remove(path); });
}

Result<plan::ChangeList> NodeService::Changes(const Caller& caller, std::string_view sandbox) {
  CAISSON_TRY(const auto owner, OwnerOf(caller, Permission::kReadFiles, sandbox));
  return owner->Use<plan::ChangeList>([](sandbox::Sandbox& box) { return box.Changes(); });
}

Result<std::unique_ptr<EventFollower>> NodeService::FollowEvents(const Caller& caller, std::uint64_t after) {
  CAISSON_CHECK_OK(Permit(caller, Permission::kReadSandboxes));
  return events_.Follow(after);
}

std::string NodeService::NotReady() { return is_lost_ ? "the launcher has ended" : ""; }

}  // namespace caisson::service
