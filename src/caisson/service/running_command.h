#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "caisson/guard/gate.h"
#include "caisson/sandbox/spooled_command.h"
#include "caisson/service/command_seats.h"

namespace caisson::service {

// On what terms a policy let a command run; empty: none was asked.
struct Terms {
  std::optional<sandbox::DecisionNote> decision = {};
  std::optional<guard::Stop> stop = {};
};

// A command of this daemon's life, from its start until its result is recorded. Thread-safe.
class RunningCommand {
 public:
  // `seats`: what it takes up until it has ended.
  RunningCommand(std::string id, std::uint64_t step, sandbox::CommandSpec spec, std::vector<CommandSeats::Seat> seats,
                 Terms terms = {})
      : id_(std::move(id)), step_(step), spec_(std::move(spec)), seats_(std::move(seats)), terms_(std::move(terms)) {}

  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand() { Leave(); }  // before its thread is joined

  const std::string& id() const { return id_; }
  std::uint64_t step() const { return step_; }
  const sandbox::CommandSpec& spec() const { return spec_; }

  // What its result says of a policy when it ends like this, now.
  std::optional<sandbox::DecisionNote> DecisionOf(const sandbox::Outcome& outcome, policy::Time now) const;
  // It has to end then, if a policy let it run; whoever called this sees to it with StopWhenDue.
  void SetStop(const guard::Stop& stop);
  // Cancels it when its time is over.
  void StopWhenDue(policy::Time now);

  // Set once, after it was started. nullptr before, and of one that did not start.
  void Set(std::unique_ptr<sandbox::SpooledCommand> command);
  sandbox::SpooledCommand* command() const;

  // It is over: `record` writes its result down and says whether that is done. That is tried at once and with every
  // TryToRecord, until it is; only then has the command ended. Once.
  void Conclude(std::function<bool()> record);
  // Whether nothing is left to be recorded.
  bool TryToRecord();
  // Blocks until it has ended, or Leave was called. Whether it has ended.
  bool AwaitRecorded() const;
  // What is not recorded yet is left to the next daemon.
  void Leave();

  // Its result is recorded: calls who waits.
  void End();
  bool has_ended() const;
  bool AwaitEnd(std::chrono::milliseconds patience) const;
  // Calls `ended` once, perhaps at once.
  void OnEnd(std::function<void()> ended);

 private:
  std::string id_;
  std::uint64_t step_;
  sandbox::CommandSpec spec_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool ended_ = false;
  bool left_ = false;
  std::vector<CommandSeats::Seat> seats_;
  Terms terms_;
  std::vector<std::function<void()>> waiters_;
  std::mutex record_mutex_;       // one tries at a time
  std::function<bool()> record_;  // while there is something to record
  std::unique_ptr<sandbox::SpooledCommand> command_;
};

}  // namespace caisson::service
