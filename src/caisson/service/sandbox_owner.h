#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/sandbox/files.h"
#include "caisson/sandbox/sandbox.h"
#include "caisson/service/node.h"
#include "caisson/service/own_gate.h"
#include "caisson/service/records.h"
#include "caisson/service/running_command.h"
#include "caisson/service/sandbox_policy.h"

namespace caisson::service {

// The one owner of a sandbox that lives: every change of its state goes through here, is recorded with its reason, and
// happens one after the other. Thread-safe.
class SandboxOwner {
 public:
  struct Description {
    SandboxId id;
    Settings settings;
    std::optional<std::chrono::milliseconds> idle_timeout;
    std::chrono::milliseconds used_lifetime{};
    OnEnd on_end = OnEnd::kDelete;
    sandbox::Lifecycle state = sandbox::Lifecycle::kRunning;
  };
  SandboxOwner(Node& node, Description description, std::unique_ptr<sandbox::Sandbox> box);
  // Leaves it as it is for the next daemon, unless it was ended.
  ~SandboxOwner();
  SandboxOwner(const SandboxOwner&) = delete;
  SandboxOwner& operator=(const SandboxOwner&) = delete;

  const SandboxId& id() const { return description_.id; }
  sandbox::Lifecycle state() const { return state_; }
  // Somebody is ending it, or has: nothing is left of it then but, when that failed, to record it.
  bool is_ending() const { return is_ending_; }
  bool is_gone() const { return is_gone_; }

  // Of one that is pending, or comes back with its files: it runs from now on.
  Status Begin(const std::string& caller);
  // After a takeover: goes on with its commands. Of those that the launcher does not know the end is recorded.
  Status TakeCommands(const std::vector<state::CommandRecord>& not_ended);

  // `policy`: the one that the request names.
  Result<CommandInfo> StartCommand(const Caller& caller, const CommandRequest& request,
                                   const std::optional<CheckedPolicy>& policy);
  // A call of the tool run_command, as the sandbox's policy decides.
  Result<ToolStep> RunTool(const Caller& caller, const tool::RunCommand& call);
  // One of any other tool.
  Result<StepResult> CallTool(const Caller& caller, const tool::Call& call);
  // Between two steps: those that come follow it.
  Status SetPolicy(const Caller& caller, const CheckedPolicy& policy, RunningCommands running);

  // nullptr when it is not running any more, or never was.
  std::shared_ptr<RunningCommand> FindCommand(std::string_view id) const;
  std::uint32_t CountCommands() const { return seats_.taken(); }

  Status Pause(const Caller& caller);
  Status Resume(const Caller& caller);
  // Keeps its files and ends every process: kStopped. What cannot be kept goes on as it was. Errors: kConflict.
  Status Stop(const std::string& reason, const std::string& caller);
  // Whether that can be done to a sandbox like this; otherwise an error of this code.
  static Status CheckMayStop(const Settings& settings, Code code);
  // Ends every process, and with kDeleted removes its files; whatever hangs in it is killed first. `to`: kDeleted;
  // kFailed, which is kStopped when its files were kept; kStopped. Idempotent. When it fails only because it could not
  // be recorded, is_gone is true, and a repetition records what was asked for first.
  Status End(sandbox::Lifecycle to, const std::string& reason, const std::string& caller);

  // Runs `work` while the state cannot change. Errors: kConflict unless it is running, and of work that the end of the
  // sandbox cut short.
  template <typename T>
  Result<T> Use(const std::function<Result<T>(sandbox::Sandbox&)>& work) {
    CAISSON_TRY(const std::shared_lock lock, Enter());
    const ActivityMark mark(*this);
    Result<T> done = work(*box_);
    if (!done && is_ending_) return Fail(AsItEnds());
    return done;
  }

  // What is to be done about it now, by whoever looks after the node. Results that found no room are tried again, and
  // ended commands let go of.
  struct Care {
    enum class Need : std::uint8_t { kNothing, kSettle, kStop, kEnd } need = Need::kNothing;
    sandbox::Lifecycle to = sandbox::Lifecycle::kDeleted;  // of kEnd
    std::string reason;
  };
  Care LookAfter(std::chrono::steady_clock::time_point now);
  // Brings one that was left between two states to one that may last: what was begun is undone, or finished when that
  // is done already. At most 5 s.
  void Settle();
  // Readable once its first process has ended. Borrowed.
  int ended_fd() const { return box_->ended_fd(); }

 private:
  static Error AsItEnds();

  using Clock = std::chrono::steady_clock;
  class ActivityMark {
   public:
    explicit ActivityMark(SandboxOwner& owner) : owner_(owner) { ++owner_.calls_; }
    ~ActivityMark() {
      --owner_.calls_;
      owner_.last_active_ = Clock::now();
    }
    ActivityMark(const ActivityMark&) = delete;
    ActivityMark& operator=(const ActivityMark&) = delete;

   private:
    SandboxOwner& owner_;
  };

  Result<std::shared_lock<std::shared_timed_mutex>> Enter();
  // Lets every process go on, and the time-outs.
  Status LetRun();
  Status AwaitResults();
  Status ChangeState(sandbox::Lifecycle to, const std::string& reason, const std::string& caller,
                     std::optional<std::chrono::milliseconds> deadline = {});
  // Nothing more becomes of it but that it is deleted, or starts anew with another owner.
  bool IsOver() const;
  // With life_ held.
  Status EndHeld(sandbox::Lifecycle to, const std::string& reason, const std::string& caller);
  // What a command is that says nothing of itself.
  sandbox::CommandSpec BareSpec(std::optional<std::chrono::milliseconds> timeout) const;
  sandbox::CommandSpec SpecOf(const CommandRequest& request) const;
  static sandbox::Sandbox::Input InputOf(const CommandRequest& request);
  Result<std::vector<CommandSeats::Seat>> AdmitCommand();
  // A step that has its number and its place among the commands, with life_ shared.
  struct Step {
    state::CommandRecord record;
    std::shared_ptr<RunningCommand> command;
  };
  Result<Step> TakeStep(const Caller& caller, const sandbox::CommandSpec& spec, Terms terms,
                        std::vector<CommandSeats::Seat> seats);
  // A tool that is no command, as the policy decides.
  struct ToolAdmission {
    sandbox::DecisionNote note;
    std::optional<sandbox::Outcome> refused = {};
    std::shared_ptr<const plan::KernelPlan> kernel_plan = nullptr;
  };
  Result<ToolAdmission> AdmitTool(const tool::Call& call);
  Result<tool::Data> DoTool(const tool::Call& call, const std::shared_ptr<const plan::KernelPlan>& plan);
  Result<tool::Found> Search(sandbox::Files& files, const tool::SearchFiles& call);
  static sandbox::Outcome RefusalOf(const policy::Decision& decision, sandbox::DecisionNote& note);
  // A call that a policy decides. `bare`: what the call does not say; `draft`: what it would be started as.
  struct GatedCall {
    policy::CommandCall call;
    sandbox::CommandSpec bare;
    sandbox::CommandSpec draft;
    sandbox::Sandbox::Input input = sandbox::Sandbox::Input::kOnlyFirst;
    std::string_view stdin_bytes;
  };
  Result<ToolStep> RunUnder(guard::Gate& gate, const Caller& caller, const GatedCall& gated,
                            std::vector<CommandSeats::Seat> seats);
  // Under another policy than the sandbox's.
  Result<ToolStep> StartUnder(const CheckedPolicy& policy, const Caller& caller, const CommandRequest& request,
                              std::vector<CommandSeats::Seat> seats);
  void StartStep(const Step& step, sandbox::Sandbox::Input input, std::string_view stdin_bytes);
  void Record(RunningCommand& command, Result<sandbox::CommandResult> result);
  std::shared_ptr<RunningCommand> Adopt(const state::CommandRecord& record);
  sandbox::OnCommandEnd OnEndOf(RunningCommand& command);
  // Cancels the commands whose time a policy's rule has ended.
  void StopWhatIsDue();
  // Tries again. Whether nothing is left to be recorded.
  bool RecordResults();
  void ForgetEnded();
  // Destroys them without the lock: their threads are joined.
  void ForgetAll();
  std::vector<std::shared_ptr<RunningCommand>> Commands() const;

  Node& node_;
  Description description_;
  std::unique_ptr<sandbox::Sandbox> box_;
  std::atomic<sandbox::Lifecycle> state_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> is_gone_ = false;
  // What was asked for by the End that is not recorded yet.
  struct Ending {
    sandbox::Lifecycle to = sandbox::Lifecycle::kDeleted;
    std::string reason;
    std::string caller;
  };
  std::optional<Ending> ending_;                                           // under life_
  std::atomic<Clock::time_point> state_until_ = Clock::time_point::max();  // when the present state has lasted too long
  std::atomic<bool> lets_run_ = false;  // of an intermediate state: every process goes on
  std::shared_timed_mutex life_;        // shared: something is done in it; exclusive: its state changes

  OwnGate gate_;
  std::mutex editing_mutex_;  // one tool at a time changes what it has read
  CommandSeats seats_;
  mutable std::mutex commands_mutex_;
  std::map<std::string, std::shared_ptr<RunningCommand>, std::less<>> commands_;

  std::atomic<std::uint32_t> calls_ = 0;
  std::atomic<Clock::time_point> last_active_;
  std::atomic<Clock::time_point> running_since_;
  std::atomic<Clock::time_point> stop_again_at_ = Clock::time_point::min();
};

}  // namespace caisson::service
