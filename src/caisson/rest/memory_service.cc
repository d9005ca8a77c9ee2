#include "caisson/rest/memory_service.h"

#include <algorithm>
#include <utility>

#include "caisson/rest/memory_state.h"

namespace caisson::rest {

using service::Caller;
using service::CommandInfo;
using service::SandboxInfo;
using service::Stream;

namespace {

using Calls = std::vector<std::function<void()>>;

void Run(const Calls& calls) {
  for (const auto& call : calls) call();
}

void TakeAll(std::map<const void*, std::function<void()>>& from, Calls& calls) {
  for (auto& [who, call] : from) calls.push_back(std::move(call));
  from.clear();
}

SandboxInfo NewSandbox(const std::string& name) {
  SandboxInfo info{.id = SandboxId::Random(),
                   .name = {},
                   .reason = {},
                   .labels = {},
                   .limits = {},
                   .image = "host",
                   .workspace = {},
                   .env = {},
                   .idle_timeout = {},
                   .max_lifetime = {},
                   .expires_at = {}};
  info.state = sandbox::Lifecycle::kRunning;
  if (!name.empty()) info.name = name;
  return info;
}

}  // namespace

MemoryService::MemoryService() : shared_(std::make_shared<Shared>()) {}

std::string MemoryService::AddSandbox(const std::string& name) {
  const std::lock_guard lock(shared_->mutex);
  SandboxInfo info = NewSandbox(name);
  const std::string id = info.id.text();
  shared_->sandboxes.emplace(id, std::move(info));
  return id;
}

void MemoryService::AddFile(const std::string& path, std::string content) {
  const std::lock_guard lock(shared_->mutex);
  shared_->files[path] = std::move(content);
}

void MemoryService::Hold(const std::string& name) {
  const std::lock_guard lock(shared_->mutex);
  shared_->held_name = name;
}

void MemoryService::Release() {
  const std::lock_guard lock(shared_->mutex);
  shared_->held_name.clear();
  shared_->changed.notify_all();
}

void MemoryService::AwaitHeld(std::size_t count) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->held >= count; });
}

std::string MemoryService::AwaitCommand(std::size_t count) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->commands.size() >= count; });
  return shared_->commands.back()->info.id;
}

void MemoryService::Print(const std::string& command, Stream stream, std::string_view bytes) {
  Calls calls;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& one : shared_->commands) {
      if (one->info.id != command) continue;
      one->out[static_cast<std::size_t>(stream)] += bytes;
      TakeAll(one->readers, calls);
    }
  }
  Run(calls);
}

void MemoryService::Drop(const std::string& command, std::uint64_t bytes) {
  const std::lock_guard lock(shared_->mutex);
  for (const auto& one : shared_->commands) {
    if (one->info.id == command) one->kept_from[0] = bytes;
  }
}

void MemoryService::EndLocked(Command& command, sandbox::Outcome outcome, Calls& calls) {
  if (command.info.state == service::CommandState::kEnded) return;
  command.info.state = service::CommandState::kEnded;
  command.info.outcome = std::string(sandbox::OutcomeName(outcome));
  if (const auto* exited = std::get_if<sandbox::Exited>(&outcome)) command.info.exit_code = exited->code;
  command.outcome = std::move(outcome);
  for (auto& ended : command.ended) calls.push_back(std::move(ended));
  command.ended.clear();
  TakeAll(command.readers, calls);
}

void MemoryService::End(const std::string& command, const sandbox::Outcome& outcome) {
  Calls calls;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& one : shared_->commands) {
      if (one->info.id == command) EndLocked(*one, outcome, calls);
    }
  }
  Run(calls);
}

std::string MemoryService::InputOf(const std::string& command) {
  const std::lock_guard lock(shared_->mutex);
  for (const auto& one : shared_->commands) {
    if (one->info.id == command) return one->input + (one->input_open ? "" : "<end>");
  }
  return {};
}

void MemoryService::AddEvent(const std::string& type) {
  Calls calls;
  {
    const std::lock_guard lock(shared_->mutex);
    service::Event event{
        .number = shared_->events.size() + 1, .type = type, .sandbox = {}, .command = {}, .caller = {}, .detail = {}};
    shared_->events.push_back(std::move(event));
    TakeAll(shared_->listeners, calls);
  }
  Run(calls);
}

void MemoryService::SetNotReady(std::string reason) {
  const std::lock_guard lock(shared_->mutex);
  shared_->not_ready = std::move(reason);
}

std::string MemoryService::LastCaller() {
  const std::lock_guard lock(shared_->mutex);
  return shared_->caller;
}

std::size_t MemoryService::Cancels() {
  const std::lock_guard lock(shared_->mutex);
  return shared_->cancels;
}

void MemoryService::AwaitCancels(std::size_t count) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->cancels >= count; });
}

std::size_t MemoryService::Followers() {
  const std::lock_guard lock(shared_->mutex);
  return shared_->followers;
}

std::uint64_t MemoryService::TakenByFollowers() {
  const std::lock_guard lock(shared_->mutex);
  return shared_->taken;
}

std::size_t MemoryService::CallCount() {
  const std::lock_guard lock(shared_->mutex);
  return shared_->calls;
}

void MemoryService::FailCreate(Error error) {
  const std::lock_guard lock(shared_->mutex);
  shared_->create_error = std::move(error);
}

Result<SandboxInfo*> MemoryService::Find(const Caller& caller, std::string_view sandbox,
                                         std::unique_lock<std::mutex>& lock) {
  ++shared_->calls;
  shared_->caller = caller.name;
  if (!shared_->held_name.empty() && shared_->held_name == sandbox) {
    ++shared_->held;
    shared_->changed.notify_all();
    shared_->changed.wait(lock, [&] { return shared_->held_name != sandbox; });
    --shared_->held;
  }
  for (auto& [id, info] : shared_->sandboxes) {
    if (id == sandbox || info.name == sandbox) return &info;
  }
  return Fail(Error(Code::kNotFound, "there is no such sandbox"));
}

Result<std::shared_ptr<MemoryService::Command>> MemoryService::FindCommand(const Caller& caller,
                                                                           std::string_view sandbox,
                                                                           std::string_view command,
                                                                           std::unique_lock<std::mutex>& lock) {
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  for (const auto& one : shared_->commands) {
    if (one->info.id == command) return one;
  }
  return Fail(Error(Code::kNotFound, "there is no such command"));
}

Result<SandboxInfo> MemoryService::Create(const Caller& caller, const service::CreateRequest& request) {
  std::unique_lock lock(shared_->mutex);
  shared_->caller = caller.name;
  if (shared_->create_error) return Fail(*std::exchange(shared_->create_error, std::nullopt));
  SandboxInfo info = NewSandbox(request.name.value_or(""));
  info.labels = request.labels;
  shared_->sandboxes.emplace(info.id.text(), info);
  return info;
}

Result<SandboxInfo> MemoryService::Get(const Caller& caller, std::string_view sandbox) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_TRY(const SandboxInfo* info, Find(caller, sandbox, lock));
  return *info;
}

Result<service::Page<SandboxInfo>> MemoryService::List(const Caller& caller, const service::ListRequest& request) {
  const std::lock_guard lock(shared_->mutex);
  shared_->caller = caller.name;
  service::Page<SandboxInfo> page;
  for (const auto& [id, info] : shared_->sandboxes) {
    if (page.items.size() == request.limit) {
      page.next_cursor = id;
      break;
    }
    if (!request.cursor || id >= *request.cursor) page.items.push_back(info);
  }
  return page;
}

Result<SandboxInfo> MemoryService::Change(const Caller& caller, std::string_view sandbox, sandbox::Lifecycle to) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_TRY(SandboxInfo * info, Find(caller, sandbox, lock));
  info->state = to;
  return *info;
}

Result<SandboxInfo> MemoryService::Pause(const Caller& caller, std::string_view sandbox) {
  return Change(caller, sandbox, sandbox::Lifecycle::kPaused);
}
Result<SandboxInfo> MemoryService::Resume(const Caller& caller, std::string_view sandbox) {
  return Change(caller, sandbox, sandbox::Lifecycle::kRunning);
}
Result<SandboxInfo> MemoryService::Stop(const Caller& caller, std::string_view sandbox) {
  return Change(caller, sandbox, sandbox::Lifecycle::kStopped);
}
Result<SandboxInfo> MemoryService::Delete(const Caller& caller, std::string_view sandbox) {
  return Change(caller, sandbox, sandbox::Lifecycle::kDeleted);
}

Result<CommandInfo> MemoryService::StartCommand(const Caller& caller, std::string_view sandbox,
                                                const service::CommandRequest& request) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_TRY(const SandboxInfo* info, Find(caller, sandbox, lock));
  auto command = std::make_shared<Command>(Command{.info = {.id = "cm_" + SandboxId::Random().text().substr(3),
                                                            .sandbox = info->id,
                                                            .step = shared_->commands.size() + 1,
                                                            .argv = request.argv,
                                                            .cwd = request.cwd.value_or("/home/agent/workspace"),
                                                            .ended_at = {},
                                                            .outcome = {},
                                                            .exit_code = {},
                                                            .signal = {}},
                                                   .out = {},
                                                   .input = request.stdin_bytes,
                                                   .outcome = {},
                                                   .ended = {},
                                                   .readers = {}});
  command->input_open = request.input == service::CommandRequest::Input::kOpen;
  Calls calls;
  if (request.argv[0] == "echo") {
    command->out[0] = request.argv.size() > 1 ? request.argv[1] : "";
    EndLocked(*command, sandbox::Exited{0}, calls);
  }
  shared_->commands.push_back(command);
  shared_->changed.notify_all();
  return command->info;
}

Result<CommandInfo> MemoryService::GetCommand(const Caller& caller, std::string_view sandbox,
                                              std::string_view command) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_TRY(const auto found, FindCommand(caller, sandbox, command, lock));
  return found->info;
}

Result<std::vector<CommandInfo>> MemoryService::ListCommands(const Caller& caller, std::string_view sandbox) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  std::vector<CommandInfo> infos;
  for (const auto& one : shared_->commands) infos.push_back(one->info);
  return infos;
}

Result<service::StepResult> MemoryService::ResultOf(const Caller& caller, std::string_view sandbox,
                                                    std::string_view command) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_TRY(const auto found, FindCommand(caller, sandbox, command, lock));
  if (found->info.state == service::CommandState::kRunning) return Fail(Error(Code::kConflict, "the command runs"));
  service::StepResult step{.sandbox = found->info.sandbox,
                           .step = found->info.step,
                           .command_id = found->info.id,
                           .result = {},
                           .hints = {}};
  step.result.outcome = found->outcome;
  step.result.decision = found->decision;
  step.result.out.kept = found->out[0].substr(0, MiB(1).value);
  step.result.out.total_bytes = found->out[0].size();
  step.result.out.truncated = step.result.out.kept.size() < found->out[0].size();
  step.result.err.kept = found->out[1];
  step.result.err.total_bytes = found->out[1].size();
  return step;
}

Status MemoryService::AwaitEnd(const Caller& caller, std::string_view sandbox, std::string_view command,
                               std::function<void()> ended) {
  {
    std::unique_lock lock(shared_->mutex);
    CAISSON_TRY(const auto found, FindCommand(caller, sandbox, command, lock));
    if (found->info.state == service::CommandState::kRunning) {
      found->ended.push_back(std::move(ended));
      return {};
    }
  }
  ended();
  return {};
}

Result<std::size_t> MemoryService::WriteInput(const Caller& caller, std::string_view sandbox, std::string_view command,
                                              std::string_view bytes) {
  Calls calls;
  {
    std::unique_lock lock(shared_->mutex);
    CAISSON_TRY(const auto found, FindCommand(caller, sandbox, command, lock));
    if (!found->input_open) return Fail(Error(Code::kConflict, "no input is open"));
    found->input += bytes;
    if (found->info.argv.front() == "head") {
      found->input_open = false;
      EndLocked(*found, sandbox::Exited{0}, calls);
    }
  }
  Run(calls);
  return bytes.size();
}

Status MemoryService::CloseInput(const Caller& caller, std::string_view sandbox, std::string_view command) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_TRY(const auto found, FindCommand(caller, sandbox, command, lock));
  if (!found->input_open) return Fail(Error(Code::kConflict, "no input is open"));
  found->input_open = false;
  return {};
}

Status MemoryService::Signal(const Caller& caller, std::string_view sandbox, std::string_view command, int signal) {
  Calls calls;
  {
    std::unique_lock lock(shared_->mutex);
    CAISSON_TRY(const auto found, FindCommand(caller, sandbox, command, lock));
    EndLocked(*found, sandbox::Signaled{signal}, calls);
  }
  Run(calls);
  return {};
}

Status MemoryService::Cancel(const Caller& caller, std::string_view sandbox, std::string_view command) {
  Calls calls;
  {
    std::unique_lock lock(shared_->mutex);
    CAISSON_TRY(const auto found, FindCommand(caller, sandbox, command, lock));
    ++shared_->cancels;
    shared_->changed.notify_all();
    EndLocked(*found, sandbox::Cancelled{}, calls);
  }
  Run(calls);
  return {};
}

Result<sandbox::FileContent> MemoryService::ReadFile(const Caller& caller, std::string_view sandbox,
                                                     std::string_view path, std::uint64_t offset, Bytes limit) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  const auto file = shared_->files.find(std::string(path));
  if (file == shared_->files.end()) return Fail(Error(Code::kNotFound, "there is no such file"));
  const std::string& all = file->second;
  sandbox::FileContent content{.bytes = {}, .size_bytes = all.size()};
  if (offset < all.size()) content.bytes = all.substr(offset, limit.value);
  return content;
}

Result<sandbox::Wrote> MemoryService::WriteFile(const Caller& caller, std::string_view sandbox, std::string_view path,
                                                std::string_view content, sandbox::IfExists if_exists) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  const auto [file, is_new] = shared_->files.try_emplace(std::string(path));
  if (!is_new && if_exists == sandbox::IfExists::kFail) return Fail(Error(Code::kAlreadyExists, "the file exists"));
  if (if_exists != sandbox::IfExists::kAppend) file->second.clear();
  file->second += content;
  if (is_new) return sandbox::Wrote::kCreated;
  return if_exists == sandbox::IfExists::kAppend ? sandbox::Wrote::kAppended : sandbox::Wrote::kReplaced;
}

Result<std::vector<sandbox::FileEntry>> MemoryService::ListFolder(const Caller& caller, std::string_view sandbox,
                                                                  std::string_view path) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  std::vector<sandbox::FileEntry> entries;
  const std::string folder = path == "/" ? "/" : std::string(path) + "/";
  for (const auto& [name, content] : shared_->files) {
    if (!name.starts_with(folder)) continue;
    entries.push_back(
        {.name = name.substr(folder.size()), .size_bytes = content.size(), .mode = 0644, .link_target = {}});
  }
  return entries;
}

Status MemoryService::DeleteFile(const Caller& caller, std::string_view sandbox, std::string_view path) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  if (shared_->files.erase(std::string(path)) == 0) return Fail(Error(Code::kNotFound, "there is no such file"));
  return {};
}

Result<plan::ChangeList> MemoryService::Changes(const Caller& caller, std::string_view sandbox) {
  std::unique_lock lock(shared_->mutex);
  CAISSON_CHECK_OK(Find(caller, sandbox, lock));
  plan::ChangeList list;
  for (const auto& [path, content] : shared_->files) {
    list.changes.push_back({.path = path, .kind = plan::ChangeKind::kCreated, .size_bytes = content.size()});
  }
  return list;
}

std::string MemoryService::NotReady() {
  const std::lock_guard lock(shared_->mutex);
  return shared_->not_ready;
}

}  // namespace caisson::rest
