#include "caisson/sandbox/command_verdict.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace caisson::sandbox {
namespace {

constexpr std::size_t kMaxEndMessage = 256;

// Whether a process can end so: the message is the guest's word and nothing more.
bool IsPossible(const proto::End& end) {
  constexpr int kMaxExitCode = 255;
  constexpr int kMaxSignal = 64;  // signal(7): SIGRTMAX of the kernel
  return end.ended() && end.exit_code() >= 0 && end.exit_code() <= kMaxExitCode && end.signal() >= 0 &&
         end.signal() <= kMaxSignal;
}

}  // namespace

std::optional<proto::End> ReadCommandEnd(int fd) {
  // One read: the message is one small write, and whoever holds the other end must not make the engine wait for more.
  std::array<char, kMaxEndMessage> data;
  const ssize_t n = read(fd, data.data(), data.size());
  proto::End end;
  if (n <= 0 || !end.ParseFromArray(data.data(), static_cast<int>(n)) || !IsPossible(end)) return std::nullopt;
  return end;
}

FailedToStart ExplainStart(const backend::Instance::Started& started) {
  FailedToStart failed{.reason = FailedToStart::Reason::kOther, .errno_value = started.error, .step = started.step};
  if (started.step != "exec") return failed;
  if (started.error == ENOENT) failed.reason = FailedToStart::Reason::kNotFound;
  if (started.error == EACCES || started.error == ENOEXEC || started.error == EISDIR || started.error == EPERM) {
    failed.reason = FailedToStart::Reason::kNotExecutable;
  }
  return failed;
}

Outcome Classify(const proto::End& end, const backend::Leaf& leaf) {
  constexpr int kKilled = 128 + SIGKILL;  // how a shell passes on that its program was killed
  const bool killed = end.signal() == SIGKILL || end.exit_code() == kKilled;
  if (killed && leaf.RanOutOfMemory()) return OutOfMemory{};
  if (end.signal() != 0) return Signaled{end.signal()};
  return Exited{end.exit_code()};
}

void Measure(const backend::Leaf& leaf, CommandResult& result) {
  result.cpu = leaf.CpuTime();
  result.memory_peak_bytes = leaf.MemoryPeakBytes();
  result.killed_for_memory = leaf.RanOutOfMemory();
  result.hit_process_limit = leaf.HitProcessLimit();
}

void TakeChanges(Command::State& state, CommandResult& result) {
  if (!state.started.leaf->Emptied(Deadline::In(std::chrono::milliseconds(0)))) state.changes->ExpectChangesAlways();
  if (!state.span) return state.unasked.reset();
  const auto* exited = std::get_if<Exited>(&result.outcome);
  const bool succeeded = exited != nullptr && exited->code == 0;
  auto changes = state.changes->End(*std::exchange(state.span, std::nullopt),
                                    succeeded ? plan::CheckRoom::kNo : plan::CheckRoom::kYes);
  if (!changes) return;
  result.files_changed = std::move(changes->list);
  result.disk_full = changes->disk_full;
}

}  // namespace caisson::sandbox
