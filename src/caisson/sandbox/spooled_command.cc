#include "caisson/sandbox/spooled_command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "caisson/sandbox/command_state.h"
#include "caisson/sandbox/command_verdict.h"
#include "caisson/sandbox/last_output.h"

namespace caisson::sandbox {
namespace {

using std::chrono::nanoseconds;

// How long a killed process tree may take to be gone.
constexpr std::chrono::milliseconds kKillPatience{1000};
// How long an input must have been silent before its reader is said to wait for it.
constexpr std::chrono::milliseconds kSilence{250};
constexpr int kInputPatienceMs = 1000;
// More than the largest pipe an unprivileged process can make.
constexpr std::uint64_t kDrainLimit = 4U << 20U;
// A writer that is ahead of its reader is not stopped at each 64 KiB. What is refused stays as it was.
constexpr int kPipeSize = 1 << 20;

// A stream that gives so much at once gets the stage.
constexpr std::uint64_t kMuch = KiB(256).value;

constexpr std::size_t kIn = 0;
constexpr std::size_t kOut = 1;
constexpr std::size_t kErr = 2;

OutputStreamKind KindOf(std::size_t stream) {
  return stream == kOut ? OutputStreamKind::kStdout : OutputStreamKind::kStderr;
}

}  // namespace

SpooledCommand::SpooledCommand(Begin begin)
    : state_(std::move(begin.state)),
      output_(std::move(begin.output)),
      on_end_(std::move(begin.on_end)),
      parked_(begin.parked),
      stage_(std::move(begin.stage)),
      input_(std::move(state_->started.stdio[kIn])),
      first_(std::move(begin.first_input)),
      after_first_(begin.after_first_input),
      verdict_(static_cast<Verdict>(std::min<std::uint64_t>(parked_.decided, 2))) {
  for (const std::size_t stream : {kOut, kErr}) {
    os::SetNonBlocking(state_->started.stdio[stream].get());
    fcntl(state_->started.stdio[stream].get(), F_SETPIPE_SZ, kPipeSize);
  }
  if (input_.valid()) os::SetNonBlocking(input_.get());
  const auto now = Clock::now();
  if (parked_.stands_still != 0) {
    left_ = nanoseconds(parked_.deadline_ns);
  } else if (begin.is_frozen) {
    left_ = Clock::time_point(nanoseconds(parked_.deadline_ns)) - now;
  }
  if (left_ && !begin.is_frozen) {
    parked_.deadline_ns = nanoseconds((now + *left_).time_since_epoch()).count();
    left_.reset();
  }
  parked_.stands_still = left_ ? 1 : 0;
  if (verdict_ != Verdict::kNone) {
    // Its engine may have died before it killed it.
    state_->started.leaf->Kill();
    killed_at_ = now;
  }
  Feed();
  Park();
  thread_ = std::thread([this] { Run(); });
}

SpooledCommand::~SpooledCommand() {
  leaving_ = true;
  output_->Wake();
  thread_.join();
}

// With the lock held, or before there is anybody else.
void SpooledCommand::Park() {
  const auto& started = state_->started;
  parked_.decided = static_cast<std::uint64_t>(verdict_);
  std::vector<int> fds = {started.end.get()};
  for (const std::size_t stream : {kOut, kErr}) fds.push_back(started.stdio[stream].get());
  // An input whose rest this engine holds ends with it.
  const bool ends_with_us = !first_.empty() && after_first_ == AfterFirst::kCloses;
  if (input_.valid() && !ends_with_us) fds.push_back(input_.get());
  if (stage_) std::ranges::copy(stage_->Ends(), std::back_inserter(fds));
  // Without its launcher no sandbox lives that could be taken over.
  (void)state_->instance->Park(*started.leaf, parked_, fds);
}

int SpooledCommand::InputToFeed() const {
  const std::lock_guard lock(mutex_);
  return first_.empty() || left_ ? -1 : input_.get();
}

// With the lock held, or before there is anybody else.
void SpooledCommand::Feed() {
  while (input_.valid() && !first_.empty()) {
    const ssize_t n = write(input_.get(), first_.data(), first_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    silent_from_ = Clock::now() + kSilence;
    // Nobody reads it any more, or ever did.
    first_.erase(0, n < 0 ? std::string::npos : static_cast<std::size_t>(n));
  }
  if (after_first_ == AfterFirst::kCloses) input_.Reset();
  fed_.notify_all();
}

Result<std::size_t> SpooledCommand::WriteInput(std::string_view bytes) {
  os::Fd input;
  {
    std::unique_lock lock(mutex_);
    // What was given first comes first.
    const bool is_fed =
        fed_.wait_for(lock, std::chrono::milliseconds(kInputPatienceMs), [this] { return first_.empty() || over_; });
    if (!is_fed) return std::size_t{0};
    if (over_ || !input_.valid()) return Fail(Error(Code::kConflict, "the command's input is not open"));
    CAISSON_TRY(input, input_.Duplicate());
  }
  pollfd entry{input.get(), POLLOUT, 0};
  if (poll(&entry, 1, kInputPatienceMs) <= 0) return std::size_t{0};
  const ssize_t n = write(input.get(), bytes.data(), bytes.size());
  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    return Fail(Error(Code::kConflict, "the command does not read its input any more"));
  }
  if (n <= 0) return std::size_t{0};
  const std::lock_guard lock(mutex_);
  silent_from_ = Clock::now() + kSilence;
  return static_cast<std::size_t>(n);
}

Status SpooledCommand::CloseInput() {
  const std::lock_guard lock(mutex_);
  if (over_ || !input_.valid()) return Fail(Error(Code::kConflict, "the command's input is not open"));
  after_first_ = AfterFirst::kCloses;
  if (first_.empty()) input_.Reset();
  Park();
  return {};
}

Status SpooledCommand::Signal(int signal) {
  {
    const std::lock_guard lock(mutex_);
    if (over_) return Fail(Error(Code::kConflict, "the command has ended"));
  }
  return state_->instance->Signal(state_->started.command, signal);
}

void SpooledCommand::Cancel() { Decide(Verdict::kCancelled); }

void SpooledCommand::Decide(Verdict verdict) {
  {
    const std::lock_guard lock(mutex_);
    if (over_ || verdict_ != Verdict::kNone) return;
    verdict_ = verdict;
    killed_at_ = Clock::now();
    Park();
    state_->started.leaf->Kill();
  }
  output_->Wake();
}

void SpooledCommand::Pause() {
  const std::lock_guard lock(mutex_);
  if (over_ || left_) return;
  left_ = Clock::time_point(nanoseconds(parked_.deadline_ns)) - Clock::now();
  parked_.deadline_ns = nanoseconds(*left_).count();
  parked_.stands_still = 1;
  Park();
  output_->Wake();
}

void SpooledCommand::Resume() {
  const std::lock_guard lock(mutex_);
  if (over_ || !left_) return;
  parked_.deadline_ns = nanoseconds((Clock::now() + *left_).time_since_epoch()).count();
  parked_.stands_still = 0;
  left_.reset();
  if (killed_at_) killed_at_ = Clock::now();
  Park();
  output_->Wake();
}

int SpooledCommand::PollTimeout() const {
  const std::lock_guard lock(mutex_);
  if (left_) return -1;  // also of one that was killed: its guest is frozen too, and says nothing of it
  if (killed_at_) return Deadline(*killed_at_ + kKillPatience).PollTimeout();
  return Deadline(Clock::time_point(nanoseconds(parked_.deadline_ns))).PollTimeout();
}

bool SpooledCommand::TimeIsOver() const {
  const std::lock_guard lock(mutex_);
  if (left_) return false;
  if (killed_at_) return Clock::now() >= *killed_at_ + kKillPatience;
  return Clock::now() >= Clock::time_point(nanoseconds(parked_.deadline_ns));
}

void SpooledCommand::Run() {
  std::optional<Result<CommandResult>> result;
  while (!leaving_ && !result) result = Move();
  if (!result) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    fed_.notify_all();
    // Nobody parks them any more. Whoever still writes to them learns that nobody reads.
    for (const std::size_t stream : {kOut, kErr}) state_->started.stdio[stream].Reset();
  }
  if (on_end_(*std::move(result)) == Recorded::kNo) return;
  (void)state_->instance->Unpark(*state_->started.leaf);
  state_->instance->Return(*std::move(state_->started.leaf));
  output_->Finish();
}

int SpooledCommand::SourceOf(std::size_t stream) const {
  return IsStaged(stream) && stage_->Holds() ? stage_->reading() : state_->started.stdio[stream].get();
}

SpoolFile::Moved SpooledCommand::Take(std::size_t stream) {
  const int pipe = state_->started.stdio[stream].get();
  const OutputStreamKind kind = KindOf(stream);
  if (IsStaged(stream)) {
    const auto filled = stage_->Holds() ? SpoolFile::Moved::kSome : stage_->Fill(pipe);
    return filled == SpoolFile::Moved::kSome ? output_->Take(kind, stage_->reading()) : filled;
  }
  const std::uint64_t before = output_->total(kind);
  const SpoolFile::Moved moved = output_->Take(kind, pipe);
  if (!stage_ && output_->total(kind) - before >= kMuch) MakeStage(stream);
  return moved;
}

void SpooledCommand::MakeStage(std::size_t stream) {
  auto made = OutputStage::Make();
  if (!made) return;  // tried again with the next bytes
  const std::lock_guard lock(mutex_);
  parked_.staged_stream = stream;
  stage_ = *std::move(made);
  // Before the first byte goes there.
  Park();
}

// Moves what there is to move. Returns a result once the command is over.
std::optional<Result<CommandResult>> SpooledCommand::Move() {
  const auto source = [&](std::size_t stream, OutputStreamKind kind) {
    return at_end_[stream] || output_->MustWait(kind) ? -1 : SourceOf(stream);
  };
  std::array<pollfd, 5> entries{{{output_->wake_fd(), POLLIN, 0},
                                 {state_->started.end.get(), POLLIN, 0},
                                 {source(kOut, OutputStreamKind::kStdout), POLLIN, 0},
                                 {source(kErr, OutputStreamKind::kStderr), POLLIN, 0},
                                 {InputToFeed(), POLLOUT, 0}}};
  (void)poll(entries.data(), entries.size(), PollTimeout());
  if (entries[0].revents != 0) {
    std::uint64_t count = 0;
    (void)!read(output_->wake_fd(), &count, sizeof count);
  }
  for (const std::size_t stream : {kOut, kErr}) {
    if (entries[stream + 1].revents == 0) continue;
    at_end_[stream] = Take(stream) == SpoolFile::Moved::kEnd;
  }
  if (entries[4].revents != 0) {
    const std::lock_guard lock(mutex_);
    Feed();
    if (first_.empty()) Park();
  }
  if (entries[1].revents != 0) return Conclude(PeekEnd());
  if (!TimeIsOver()) return std::nullopt;
  if (killed_at_) {
    // Killed, and its end was not reported: the guest does not work any more.
    state_->instance->KillAll();
    return Conclude(std::nullopt);
  }
  {
    const std::lock_guard lock(mutex_);
    waits_for_input_ = input_.valid() && Clock::now() >= silent_from_ &&
                       state_->instance->WaitsForInput(*state_->started.leaf, input_.get());
  }
  Decide(Verdict::kTimedOut);
  return std::nullopt;
}

// Without taking it: the next engine must find it until the result is written down.
std::optional<proto::End> SpooledCommand::PeekEnd() const {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  const os::Fd reading(ends[0]);
  const os::Fd writing(ends[1]);
  constexpr std::size_t kMost = 4096;
  if (tee(state_->started.end.get(), writing.get(), kMost, SPLICE_F_NONBLOCK) <= 0) return std::nullopt;
  return ReadCommandEnd(reading.get());
}

Result<CommandResult> SpooledCommand::Conclude(const std::optional<proto::End>& end) {
  Verdict verdict = Verdict::kNone;
  {
    const std::lock_guard lock(mutex_);
    verdict = verdict_;
  }
  if (!end && verdict == Verdict::kNone) {
    return Fail(
        Error(Code::kUnavailable, "the sandbox ended while the command ran").Because("its first process is gone"));
  }
  CommandResult result;
  result.duration = Clock::now() - state_->start;
  backend::Leaf& leaf = *state_->started.leaf;
  if (verdict != Verdict::kNone) (void)leaf.Emptied(Deadline::In(kKillPatience));
  Drain();
  result.outcome = verdict == Verdict::kTimedOut    ? Outcome(TimedOut{})
                   : verdict == Verdict::kCancelled ? Outcome(Cancelled{})
                                                    : Classify(*end, leaf);
  result.out = output_->Capture(OutputStreamKind::kStdout, state_->kept_output);
  result.err = output_->Capture(OutputStreamKind::kStderr, state_->kept_output);
  Measure(leaf, result);
  result.waits_for_input = waits_for_input_;
  TakeChanges(*state_, result);
  return result;
}

// What is in its pipes, and what LastOutput waits for.
void SpooledCommand::Drain() {
  const LastOutput last;
  std::array<int, 2> sources{};
  std::array<std::uint64_t, 2> most{};
  for (const std::size_t stream : {kOut, kErr}) {
    sources[stream - 1] = at_end_[stream] ? -1 : state_->started.stdio[stream].get();
    most[stream - 1] = output_->total(KindOf(stream)) + kDrainLimit;
  }
  do {
    for (const std::size_t stream : {kOut, kErr}) {
      int& source = sources[stream - 1];
      auto moved = SpoolFile::Moved::kSome;
      while (source >= 0 && moved == SpoolFile::Moved::kSome) {
        moved = Take(stream);
        const bool is_over = moved == SpoolFile::Moved::kEnd || output_->total(KindOf(stream)) >= most[stream - 1];
        if (is_over) source = -1;
      }
    }
  } while (last.Await(sources));
}

}  // namespace caisson::sandbox
