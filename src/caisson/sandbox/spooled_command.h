#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "caisson/base/result.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/proto/guest.pb.h"
#include "caisson/sandbox/command.h"
#include "caisson/sandbox/command_output.h"
#include "caisson/sandbox/output_stage.h"

namespace caisson::sandbox {

// A command of a sandbox that stays: a thread moves its output into spools, and whatever an engine needs to go on with
// it lies with the launcher, so that it outlives its engine. Thread-safe.
class SpooledCommand {
 public:
  // Of Sandbox: a command that has just started, or one that another engine started. `parked` says which, and since
  // when.
  // `on_end` is called once, from the command's own thread, when it has ended and its output is complete: with an Error
  // when the sandbox ended under it. What must survive this engine is written down before it returns. One whose end is
  // not recorded stays with the launcher, for the next engine.
  // `first_input` is written to its input as far as there is room, before anything else, and never waited for by the
  // caller. An engine that ends before all of it was written takes the rest along.
  enum class AfterFirst : std::uint8_t { kStaysOpen, kCloses };
  struct Begin {
    std::unique_ptr<Command::State> state;
    std::shared_ptr<CommandOutput> output;  // also its readers'
    plan::ParkedCommand parked;
    std::optional<OutputStage> stage = {};  // of parked.staged_stream
    bool is_frozen = false;
    std::string first_input = {};
    AfterFirst after_first_input = AfterFirst::kStaysOpen;
    OnCommandEnd on_end;
  };
  explicit SpooledCommand(Begin begin);
  // Leaves the command running for the next engine, unless it has ended.
  ~SpooledCommand();
  SpooledCommand(const SpooledCommand&) = delete;
  SpooledCommand& operator=(const SpooledCommand&) = delete;

  const std::shared_ptr<CommandOutput>& output() const { return output_; }

  // How many bytes its input took: at least one, or none within 1 s. What was taken is the command's, whatever becomes
  // of this process. Errors: kConflict when its input is not open.
  Result<std::size_t> WriteInput(std::string_view bytes);
  Status CloseInput();
  Status Signal(int signal);
  // Kills its process tree: outcome Cancelled, unless it has ended.
  void Cancel();

  // Its time stands still, or goes on: for a sandbox that is frozen.
  void Pause();
  void Resume();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Verdict : std::uint64_t { kNone, kTimedOut, kCancelled };

  void Run();
  std::optional<Result<CommandResult>> Move();
  // Writes what there is room for of the first input.
  void Feed();
  int InputToFeed() const;
  void Drain();
  bool IsStaged(std::size_t stream) const { return stage_ && stream == parked_.staged_stream; }
  // Where the next bytes of a stream lie.
  int SourceOf(std::size_t stream) const;
  SpoolFile::Moved Take(std::size_t stream);
  void MakeStage(std::size_t stream);
  Result<CommandResult> Conclude(const std::optional<proto::End>& end);
  std::optional<proto::End> PeekEnd() const;
  void Decide(Verdict verdict);
  void Park();
  int PollTimeout() const;
  bool TimeIsOver() const;

  std::unique_ptr<Command::State> state_;
  std::shared_ptr<CommandOutput> output_;  // also its readers'
  OnCommandEnd on_end_;
  std::array<bool, 3> at_end_{};  // the stream was read to its end; its pipe stays, to be parked with the others

  mutable std::mutex mutex_;  // what follows, but that only its own thread writes the stage and its stream
  plan::ParkedCommand parked_;
  std::optional<OutputStage> stage_;
  os::Fd input_;       // invalid: closed
  std::string first_;  // not written yet
  AfterFirst after_first_;
  std::condition_variable fed_;          // first_ is empty
  std::optional<Clock::duration> left_;  // while it is frozen
  Verdict verdict_;
  std::optional<Clock::time_point> killed_at_;
  Clock::time_point silent_from_;  // the last bytes count as just given until then
  bool waits_for_input_ = false;
  bool over_ = false;

  std::atomic<bool> leaving_ = false;
  std::thread thread_;
};

}  // namespace caisson::sandbox
