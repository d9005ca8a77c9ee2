#include "caisson/sandbox/command_output.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace caisson::sandbox {
namespace {

// Changes of the stream that are remembered. A reader that lags behind further gets the streams by turns.
constexpr std::size_t kMostOrdered = 1024;

std::size_t IndexOf(OutputStreamKind stream) { return static_cast<std::size_t>(stream); }

std::string NameOf(const std::string& id, OutputStreamKind stream) {
  return id + (stream == OutputStreamKind::kStdout ? ".out" : ".err");
}

Result<os::Fd> MakeWake() {
  os::Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return Fail(Error::FromErrno(errno, "cannot make an event"));
  return wake;
}

}  // namespace

Result<std::shared_ptr<CommandOutput>> CommandOutput::Create(int directory, const std::string& id) {
  CAISSON_TRY(os::Fd wake, MakeWake());
  return std::shared_ptr<CommandOutput>(new CommandOutput(
      SpoolFile::Later(directory, NameOf(id, OutputStreamKind::kStdout)),
      SpoolFile::Later(directory, NameOf(id, OutputStreamKind::kStderr)), std::move(wake), Command::kRunning));
}

Result<std::shared_ptr<CommandOutput>> CommandOutput::Open(int directory, const std::string& id, Command command) {
  CAISSON_TRY(os::Fd wake, MakeWake());
  CAISSON_TRY(SpoolFile out, SpoolFile::Open(directory, NameOf(id, OutputStreamKind::kStdout)));
  CAISSON_TRY(SpoolFile err, SpoolFile::Open(directory, NameOf(id, OutputStreamKind::kStderr)));
  return std::shared_ptr<CommandOutput>(new CommandOutput(std::move(out), std::move(err), std::move(wake), command));
}

void CommandOutput::Remove(int directory, const std::string& id) {
  for (const OutputStreamKind stream : {OutputStreamKind::kStdout, OutputStreamKind::kStderr}) {
    unlinkat(directory, NameOf(id, stream).c_str(), 0);
  }
}

std::uint64_t CommandOutput::DiskBytes(int directory, const std::string& id) {
  constexpr std::uint64_t kUnit = 512;  // of st_blocks
  std::uint64_t bytes = 0;
  for (const OutputStreamKind stream : {OutputStreamKind::kStdout, OutputStreamKind::kStderr}) {
    struct stat info{};
    if (fstatat(directory, NameOf(id, stream).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    bytes += static_cast<std::uint64_t>(info.st_blocks) * kUnit;
  }
  return bytes;
}

SpoolFile::Moved CommandOutput::Take(OutputStreamKind stream, int pipe) {
  const std::lock_guard lock(mutex_);
  SpoolFile& spool = spools_[IndexOf(stream)];
  // Half of the window goes at once: each hole is a system call.
  if (spool.IsFull() && !HoldsUp(stream)) spool.DropBefore(spool.end() - SpoolFile::kWindow / 2);
  const std::uint64_t from = spool.end();
  const SpoolFile::Moved moved = spool.Take(pipe, FreeUntil(stream));
  if (moved != SpoolFile::Moved::kSome) return moved;
  RememberOrder(stream, from);
  TellReaders();
  return moved;
}

void CommandOutput::RememberOrder(OutputStreamKind stream, std::uint64_t from) {
  const std::size_t index = IndexOf(stream);
  const std::uint64_t end = spools_[index].end();
  if (end == from) return;
  if (!order_.empty() && order_.back().stream == index) {
    order_.back().end = end;
    return;
  }
  order_.push_back({index, end});
  if (order_.size() <= kMostOrdered) return;
  ordered_from_[order_.front().stream] = order_.front().end;
  order_.pop_front();
}

bool CommandOutput::MustWait(OutputStreamKind stream) const {
  const std::lock_guard lock(mutex_);
  return HoldsUp(stream);
}

// Whether a reader has still to see what the next Take would drop.
bool CommandOutput::HoldsUp(OutputStreamKind stream) const {
  const SpoolFile& spool = spools_[IndexOf(stream)];
  if (!spool.IsFull()) return false;
  const std::uint64_t dropped_next = spool.end() - SpoolFile::kWindow / 2;
  return std::ranges::any_of(readers_,
                             [&](const OutputReader* reader) { return reader->next_[IndexOf(stream)] < dropped_next; });
}

// Before it nobody looks at bytes in place.
std::uint64_t CommandOutput::FreeUntil(OutputStreamKind stream) const {
  std::uint64_t until = ~std::uint64_t{0};
  for (const OutputReader* reader : readers_) {
    const std::size_t index = IndexOf(stream);
    if (reader->held_ > 0 && reader->last_ == index) until = std::min(until, reader->next_[index]);
  }
  return until;
}

void CommandOutput::Finish() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  TellReaders();
}

void CommandOutput::Wake() const {
  const std::uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void CommandOutput::TellReaders() {
  for (OutputReader* const reader : readers_) {
    if (auto ready = std::exchange(reader->ready_, nullptr)) ready();
  }
}

std::uint64_t CommandOutput::total(OutputStreamKind stream) const {
  const std::lock_guard lock(mutex_);
  return spools_[IndexOf(stream)].end();
}

CapturedOutput CommandOutput::Capture(OutputStreamKind stream, Bytes kept) const {
  const std::lock_guard lock(mutex_);
  const SpoolFile& spool = spools_[IndexOf(stream)];
  const bool has_gap = spool.dropped_from() != spool.dropped_until();
  CapturedOutput captured;
  captured.total_bytes = spool.end();
  const std::uint64_t head = has_gap ? std::min(kept.value, spool.dropped_from()) : kept.value;
  if (auto bytes = spool.Read(0, std::min(head, spool.end()))) captured.kept = *std::move(bytes);
  captured.truncated = spool.end() > captured.kept.size();
  if (captured.truncated) {
    std::uint64_t from = std::max(head, spool.end() - std::min(spool.end(), kTailLimit.value));
    if (has_gap) from = std::max(from, spool.dropped_until());
    if (auto tail = spool.Read(from, kTailLimit.value)) captured.tail = *std::move(tail);
  }
  return captured;
}

std::unique_ptr<OutputReader> CommandOutput::Follow(std::uint64_t stdout_from, std::uint64_t stderr_from) {
  std::unique_ptr<OutputReader> reader(new OutputReader(shared_from_this(), {stdout_from, stderr_from}));
  const std::lock_guard lock(mutex_);
  readers_.push_back(reader.get());
  return reader;
}

OutputReader::~OutputReader() {
  {
    const std::lock_guard lock(output_->mutex_);
    output_->readers_.remove(this);
  }
  output_->Wake();
}

Result<std::optional<OutputReader::Chunk>> OutputReader::Next(std::size_t limit) {
  const std::lock_guard lock(output_->mutex_);
  LetGo();
  std::optional<Place> place = Locate(limit);
  if (!place || place->length == 0) return place ? std::optional(std::move(place->chunk)) : std::nullopt;
  Chunk& chunk = place->chunk;
  CAISSON_TRY(chunk.bytes, output_->spools_[last_].Read(chunk.offset, place->length));
  if (chunk.bytes.empty()) return Fail(Error(Code::kInternal, "the command's output was cut off"));
  Pass(chunk.bytes.size());
  return std::move(chunk);
}

Result<std::optional<OutputReader::Place>> OutputReader::NextPlace(std::size_t limit) {
  const std::lock_guard lock(output_->mutex_);
  LetGo();
  std::optional<Place> place = Locate(limit);
  if (place) held_ = place->length;
  return place;
}

std::optional<OutputReader::Place> OutputReader::Locate(std::size_t limit) {
  const auto turn = WhoseTurn();
  if (!turn) return std::nullopt;
  last_ = turn->stream;
  const SpoolFile& spool = output_->spools_[turn->stream];
  std::uint64_t& next = next_[turn->stream];
  Place place{.chunk = {.stream = static_cast<OutputStreamKind>(turn->stream), .offset = next, .bytes = {}},
              .file = spool.file()};
  if (next >= spool.dropped_from() && next < spool.dropped_until()) {
    place.chunk.dropped = std::min(spool.dropped_until(), spool.end()) - next;
    next += place.chunk.dropped;
    return place;
  }
  place.length = std::min<std::uint64_t>(limit, turn->until - next);
  if (next < spool.dropped_from()) place.length = std::min(place.length, spool.dropped_from() - next);
  return place;
}

void OutputReader::LetGo() {
  if (held_ > 0) Pass(std::exchange(held_, 0));
}

void OutputReader::Pass(std::uint64_t length) {
  next_[last_] += length;
  if (output_->spools_[last_].IsFull()) output_->Wake();
}

// Of which stream the next byte is, and until where of it nothing of the other comes between.
std::optional<OutputReader::Turn> OutputReader::WhoseTurn() const {
  const auto& spools = output_->spools_;
  for (const std::size_t stream : {std::size_t{0}, std::size_t{1}}) {
    if (next_[1 - stream] < spools[1 - stream].end()) continue;
    if (next_[stream] >= spools[stream].end()) return std::nullopt;
    return Turn{stream, spools[stream].end()};
  }
  for (const std::size_t stream : {1 - last_, last_}) {
    const std::uint64_t until = output_->ordered_from_[stream];
    if (next_[stream] < until) return Turn{stream, until};
  }
  for (const auto& [stream, end] : output_->order_) {
    if (next_[stream] < end) return Turn{stream, end};
  }
  return std::nullopt;
}

bool OutputReader::HasNews() const {
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const std::uint64_t held = i == last_ ? held_ : 0;
    if (next_[i] + held < output_->spools_[i].end()) return true;
  }
  return false;
}

bool OutputReader::Finished() const {
  const std::lock_guard lock(output_->mutex_);
  return output_->ended_ && !HasNews();
}

void OutputReader::Await(std::function<void()> ready) {
  const std::lock_guard lock(output_->mutex_);
  ready_ = std::move(ready);
  if (!HasNews() && !output_->ended_) return;
  if (auto now = std::exchange(ready_, nullptr)) now();
}

void OutputReader::Cancel() {
  const std::lock_guard lock(output_->mutex_);
  ready_ = nullptr;
}

}  // namespace caisson::sandbox
