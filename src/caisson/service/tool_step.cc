// The part of SandboxOwner that is about tools which are no command.

#include <set>
#include <utility>

#include "caisson/base/path_text.h"
#include "caisson/service/sandbox_owner.h"
#include "caisson/service/tool_environment.h"
#include "caisson/service/tool_files.h"

namespace caisson::service {
namespace {

using policy::Action;

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

// What of the sandbox's files a call takes; without a path nothing that a policy is about.
struct Access {
  std::optional<std::string> path;
  std::vector<Action> actions;
};

Access AccessOf(const tool::Call& call) {
  return std::visit(
      Overloaded{[](const tool::ReadFile& read) { return Access{read.path, {Action::kFileRead}}; },
                 [](const tool::SearchFiles& search) { return Access{search.search.path, {Action::kFileRead}}; },
                 [](const tool::WriteFile& write) {
                   // A whole file is put there under another name and renamed, so that it appears whole
                   // or not at all.
                   if (write.if_exists != tool::WriteFile::IfExists::kAppend) {
                     return Access{write.path, {Action::kFileWrite, Action::kFileDelete}};
                   }
                   return Access{write.path, {Action::kFileWrite}};
                 },
                 [](const tool::EditFile& edit) {
                   return Access{edit.path, {Action::kFileRead, Action::kFileWrite, Action::kFileDelete}};
                 },
                 [](const auto&) { return Access{}; }},
      call);
}

// Where the path leads, which is what the policy is asked about; of what is not there yet, where its folder does.
Access Resolved(Access access, sandbox::Files files) {
  if (const auto target = files.Follow(*access.path)) {
    access.path = *target;
  } else if (const auto folder = files.Follow(std::string(FolderOf(*access.path)))) {
    access.path = NormalPath(*folder, std::string(LastPart(*access.path)));
  }
  return access;
}

sandbox::DecisionNote BuiltIn(const char* effect, const char* rule, std::string reason) {
  return {.effect = effect, .rule = rule, .source = "built in", .reason = std::move(reason)};
}

plan::ChangeList ChangeOf(const std::string& path, sandbox::Wrote wrote, std::uint64_t size) {
  const auto kind = wrote == sandbox::Wrote::kCreated ? plan::ChangeKind::kCreated : plan::ChangeKind::kModified;
  return {.changes = {{.path = path, .kind = kind, .type = plan::EntryType::kFile, .size_bytes = size}}};
}

// What the answer says of changes: that of a tool which only looks, nothing.
plan::ChangeList ChangesOf(const tool::Data& data) {
  if (const auto* written = std::get_if<tool::FileWritten>(&data)) {
    return ChangeOf(written->path, written->wrote, written->size_bytes);
  }
  if (const auto* edited = std::get_if<tool::FileEdited>(&data)) {
    return ChangeOf(edited->path, sandbox::Wrote::kReplaced, edited->size_bytes);
  }
  return {};
}

}  // namespace

Result<SandboxOwner::ToolAdmission> SandboxOwner::AdmitTool(const tool::Call& call) {
  Access access = AccessOf(call);
  if (!access.path) return ToolAdmission{.note = BuiltIn("allow", "tool", "it tells of the sandbox alone")};
  access = Resolved(std::move(access), sandbox::Files(*box_));
  CAISSON_TRY(guard::Gate* const gate, gate_.Get());
  CAISSON_TRY(guard::Gate::FileAdmission admitted,
              gate->AdmitFile(access.actions, *access.path, *box_, node_.time_of_day()));
  ToolAdmission admission{.note = guard::NoteOf(admitted.decision), .kernel_plan = std::move(admitted.kernel_plan)};
  if (admitted.decision.effect != policy::Effect::kAllow)
    admission.refused = RefusalOf(admitted.decision, admission.note);
  return admission;
}

Result<tool::Data> SandboxOwner::DoTool(const tool::Call& call, const std::shared_ptr<const plan::KernelPlan>& plan) {
  sandbox::Files files(*box_, sandbox::User::kAgent, plan);
  const auto as_data = [](auto done) -> Result<tool::Data> {
    if (!done) return Fail(std::move(done).error());
    return tool::Data(*std::move(done));
  };
  return std::visit(Overloaded{[&](const tool::ReadFile& read) { return as_data(ReadLines(files, read)); },
                               [&](const tool::WriteFile& write) {
                                 const std::lock_guard lock(editing_mutex_);
                                 return as_data(WriteWhole(files, write));
                               },
                               [&](const tool::EditFile& edit) {
                                 const std::lock_guard lock(editing_mutex_);
                                 return as_data(EditText(files, edit));
                               },
                               [&](const tool::ListDirectory& list) { return as_data(ListBelow(files, list)); },
                               [&](const tool::SearchFiles& search) { return as_data(Search(files, search)); },
                               [&](const tool::ListChanges&) { return as_data(box_->Changes()); },
                               [&](const tool::GetEnvironment&) {
                                 return as_data(DescribeEnvironment(description_.settings, gate_));
                               },
                               [](const tool::RunCommand&) -> Result<tool::Data> {
                                 return Fail(Error(Code::kInternal, "run_command is a tool with a command"));
                               }},
                    call);
}

// The kernel knows folders; what rules say of single files in them, by other patterns too, is left out here.
Result<tool::Found> SandboxOwner::Search(sandbox::Files& files, const tool::SearchFiles& call) {
  tool::Found found{.path = call.search.path, .matches = {}};
  CAISSON_TRY(found.matches, files.Search(call.search));
  CAISSON_TRY(guard::Gate* const gate, gate_.Get());
  const policy::Time now = node_.time_of_day();
  std::set<std::string> refused;
  std::erase_if(found.matches.matches, [&](const sandbox::FileMatch& match) {
    const bool is_itself = LastPart(call.search.path) == match.path;
    const std::string path = NormalPath(call.search.path, match.path);
    if (gate->MayRead(path, now) || (is_itself && gate->MayRead(call.search.path, now))) return false;
    refused.insert(path);
    return true;
  });
  found.matches.files_skipped += refused.size();
  return found;
}

Result<StepResult> SandboxOwner::CallTool(const Caller& caller, const tool::Call& call) {
  CAISSON_TRY(const std::shared_lock lock, Enter());
  const ActivityMark mark(*this);
  const auto began = Clock::now();
  auto admission = AdmitTool(call);
  if (!admission) return Fail(is_ending_ ? AsItEnds() : std::move(admission).error());
  StepResult step{
      .tool = std::string(tool::NameOf(call)), .sandbox = id(), .command_id = {}, .result = {}, .hints = {}};
  const state::EventRecord event{
      .time = Now(), .type = "tool.called", .sandbox = id().text(), .caller = caller.name, .detail = step.tool};
  CAISSON_TRY(const state::Database::Step taken, node_.database.TakeStep(id(), NameOf(state_), event));
  node_.events.Tell();
  step.step = taken.number;
  step.result.decision = std::move(admission->note);
  if (admission->refused) {
    step.result.outcome = *std::move(admission->refused);
  } else if (auto data = DoTool(call, admission->kernel_plan)) {
    step.result.outcome = sandbox::Completed{};
    step.result.files_changed = ChangesOf(*data);
    step.data = *std::move(data);
  } else if (data.error().code() == Code::kPermissionDenied) {
    // The policy's words let it pass: what is left are the kernel's own rules, and modes.
    step.result.outcome = sandbox::Denied{};
    step.result.decision = BuiltIn("deny", "kernel", data.error().message());
  } else {
    return Fail(is_ending_ ? AsItEnds() : std::move(data).error().Detail("step", std::to_string(step.step)));
  }
  step.result.duration = Clock::now() - began;
  sandbox::CommandSpec spec;
  spec.argv = {step.tool};
  step.hints = hint::FindHints({.command = spec,
                                .result = step.result,
                                .limits = description_.settings.limits,
                                .storage = description_.settings.storage});
  return step;
}

}  // namespace caisson::service
