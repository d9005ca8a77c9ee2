#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "caisson/sandbox/spooled_command.h"
#include "caisson/service/command_seats.h"

namespace caisson::service {

// A command of this daemon's life, from its start until its result is recorded. Thread-safe.
class RunningCommand {
 public:
  // `seats`: what it takes up until it has ended.
  RunningCommand(std::string id, std::uint64_t step, sandbox::CommandSpec spec, std::vector<CommandSeats::Seat> seats)
      : id_(std::move(id)), step_(step), spec_(std::move(spec)), seats_(std::move(seats)) {}

  const std::string& id() const { return id_; }
  std::uint64_t step() const { return step_; }
  const sandbox::CommandSpec& spec() const { return spec_; }

  // Set once, after it was started. nullptr before, and of one that did not start.
  void Set(std::unique_ptr<sandbox::SpooledCommand> command);
  sandbox::SpooledCommand* command() const;

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
  std::vector<CommandSeats::Seat> seats_;
  std::vector<std::function<void()>> waiters_;
  std::unique_ptr<sandbox::SpooledCommand> command_;
};

}  // namespace caisson::service
