#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "caisson/os/fd.h"
#include "caisson/sandbox/sandboxes.h"
#include "caisson/service/event_feed.h"
#include "caisson/service/node.h"
#include "caisson/service/sandbox_owner.h"
#include "caisson/service/service.h"
#include "caisson/service/spool_trim.h"
#include "caisson/state/database.h"

namespace caisson::service {

// The service of this node, on its database and its launcher.
class NodeService : public Service {
 public:
  // Brings what the database says and what the launcher has together: sandboxes that live are taken over with their
  // commands, the others' ends are recorded. `lost` is called once, from a thread of the service, when the launcher has
  // ended, and every sandbox with it: the daemon then has to end. `time_of_day`: what policies are judged by. Both
  // references outlive the service.
  static Result<std::unique_ptr<NodeService>> Start(state::Database& database, sandbox::Sandboxes& sandboxes,
                                                    const NodeLimits& limits, std::function<void()> lost,
                                                    std::function<policy::Time()> time_of_day = TimeOfDay);
  // Leaves every sandbox and its commands to the next daemon.
  ~NodeService() override;
  NodeService(const NodeService&) = delete;
  NodeService& operator=(const NodeService&) = delete;

  // How many sandboxes there are that are not deleted, and when somebody last asked for something.
  std::size_t CountSandboxes() const;

  Result<SandboxInfo> Create(const Caller& caller, const CreateRequest& request) override;
  Result<SandboxInfo> Get(const Caller& caller, std::string_view sandbox) override;
  Result<Page<SandboxInfo>> List(const Caller& caller, const ListRequest& request) override;
  Result<SandboxInfo> Pause(const Caller& caller, std::string_view sandbox) override;
  Result<SandboxInfo> Resume(const Caller& caller, std::string_view sandbox) override;
  Result<SandboxInfo> Stop(const Caller& caller, std::string_view sandbox) override;
  Result<SandboxInfo> Delete(const Caller& caller, std::string_view sandbox) override;

  Result<PolicyInfo> GetPolicy(const Caller& caller, std::string_view sandbox) override;
  Result<PolicyInfo> SetPolicy(const Caller& caller, std::string_view sandbox, const PolicyChange& change) override;
  Result<StepResult> CallTool(const Caller& caller, std::string_view sandbox, const tool::Call& call) override;
  Result<ToolStep> RunTool(const Caller& caller, std::string_view sandbox, const tool::RunCommand& call) override;

  Result<CommandInfo> StartCommand(const Caller& caller, std::string_view sandbox,
                                   const CommandRequest& request) override;
  Result<CommandInfo> GetCommand(const Caller& caller, std::string_view sandbox, std::string_view command) override;
  Result<std::vector<CommandInfo>> ListCommands(const Caller& caller, std::string_view sandbox) override;
  Result<StepResult> ResultOf(const Caller& caller, std::string_view sandbox, std::string_view command) override;
  Status AwaitEnd(const Caller& caller, std::string_view sandbox, std::string_view command,
                  std::function<void()> ended) override;
  Result<std::unique_ptr<OutputFollower>> FollowOutput(const Caller& caller, std::string_view sandbox,
                                                       std::string_view command, std::uint64_t stdout_from,
                                                       std::uint64_t stderr_from) override;
  Result<std::size_t> WriteInput(const Caller& caller, std::string_view sandbox, std::string_view command,
                                 std::string_view bytes) override;
  Status CloseInput(const Caller& caller, std::string_view sandbox, std::string_view command) override;
  Status Signal(const Caller& caller, std::string_view sandbox, std::string_view command, int signal) override;
  Status Cancel(const Caller& caller, std::string_view sandbox, std::string_view command) override;

  Result<sandbox::FileContent> ReadFile(const Caller& caller, std::string_view sandbox, std::string_view path,
                                        std::uint64_t offset, Bytes limit) override;
  Result<sandbox::Wrote> WriteFile(const Caller& caller, std::string_view sandbox, std::string_view path,
                                   std::string_view content, sandbox::IfExists if_exists) override;
  Result<std::vector<sandbox::FileEntry>> ListFolder(const Caller& caller, std::string_view sandbox,
                                                     std::string_view path) override;
  Status DeleteFile(const Caller& caller, std::string_view sandbox, std::string_view path) override;
  Result<plan::ChangeList> Changes(const Caller& caller, std::string_view sandbox) override;

  Result<std::unique_ptr<EventFollower>> FollowEvents(const Caller& caller, std::uint64_t after) override;
  std::string NotReady() override;

 private:
  NodeService(state::Database& database, sandbox::Sandboxes& sandboxes, const NodeLimits& limits,
              std::function<void()> lost, std::function<policy::Time()> time_of_day);

  // ---- reconcile.cc
  Status Reconcile();
  // Takes the sandbox out of `survivor`, unless it fails.
  Status TakeOver(sandbox::Sandboxes::Survivor& survivor, const std::vector<state::CommandRecord>& not_ended);
  // Of one that the launcher does not have.
  Status RecordMissing(const state::SandboxRecord& record);
  Status RecordMissing(const std::vector<state::CommandRecord>& not_ended);

  // ---- node_creation.cc
  Result<std::optional<SandboxInfo>> Repeated(const Caller& caller, const CreateRequest& request);
  Status Admit(const SandboxId& id);
  Result<SandboxInfo> Make(const Caller& caller, const CreateRequest& request, const CheckedPolicy& policy,
                           const SandboxId& id);
  void IsMade(const SandboxId& id);
  // Blocks while it is being made. Whether that is over.
  bool AwaitMade(const SandboxId& id);
  // The change of one that has no owner. What cannot be recorded now is tried again by RecordChanges.
  void RecordUntilDone(const state::StateChange& change, const std::string& caller);
  void RecordChanges();
  // It has an owner before anybody hears that it runs: it can be deleted from then on.
  // `otherwise`: what it becomes when that cannot be recorded.
  Status Begin(const Caller& caller, const std::shared_ptr<SandboxOwner>& owner, sandbox::Lifecycle otherwise);

  // ---- node_restart.cc
  // A stopped one, with its files. Errors: kNotFound when they are gone: it is kFailed then.
  Status Restart(const Caller& caller, const state::SandboxRecord& record);
  Status MakeAgain(const Caller& caller, const state::SandboxRecord& record, const Settings& settings);

  // What was kept of one that has no processes.
  Status DiscardFiles(const state::SandboxRecord& record);
  Result<SandboxId> Resolve(std::string_view sandbox) const;
  Result<SandboxInfo> Describe(const SandboxId& id) const;
  std::shared_ptr<SandboxOwner> FindOwner(const SandboxId& id) const;
  Result<std::shared_ptr<SandboxOwner>> OwnerOf(const Caller& caller, Permission permission,
                                                std::string_view sandbox) const;
  std::vector<std::shared_ptr<SandboxOwner>> Owners() const;
  // Unless another one has the sandbox by now.
  void Forget(const SandboxOwner& owner);
  // The record of a command, which must be of that sandbox.
  Result<state::CommandRecord> RecordOf(const Caller& caller, Permission permission, std::string_view sandbox,
                                        std::string_view command) const;
  // Of a command that has ended.
  Result<std::shared_ptr<sandbox::CommandOutput>> OpenOutput(const state::CommandRecord& record) const;
  // A command that runs, and what it needs for as long as it is used.
  struct Held {
    std::shared_ptr<SandboxOwner> owner;
    std::shared_ptr<RunningCommand> running;
    sandbox::SpooledCommand* operator->() const { return running->command(); }
  };
  Result<Held> Running(const Caller& caller, std::string_view sandbox, std::string_view command) const;
  Result<CommandInfo> Describe(const state::CommandRecord& record) const;

  // ---- node_upkeep.cc: a thread of its own
  void Watch();
  void Attend(const std::shared_ptr<SandboxOwner>& owner, SandboxOwner::Care care);
  void JoinAttended();
  void ForgetOld();

  EventFeed events_;
  CommandSeats commands_;
  guard::HostPrograms host_programs_;
  Node node_;
  SpoolTrim spools_;
  std::function<void()> lost_;

  mutable std::shared_mutex owners_mutex_;
  std::map<SandboxId, std::shared_ptr<SandboxOwner>> owners_;
  std::set<SandboxId> being_made_;
  std::condition_variable_any made_;  // one of them is not made any more
  struct Unrecorded {
    state::StateChange change;
    std::string caller;
  };
  std::map<SandboxId, Unrecorded> unrecorded_;

  std::atomic<bool> leaving_ = false;
  std::atomic<bool> is_lost_ = false;
  os::Fd wake_;  // an eventfd: the watching thread looks again
  std::mutex attending_mutex_;
  std::map<SandboxId, std::thread> attending_;  // each does what one sandbox needs
  std::vector<SandboxId> attended_;             // whose threads are to be joined
  std::thread watch_;
};

}  // namespace caisson::service
