#include <string>
#include <variant>

#include "caisson/hint/complaints.h"
#include "caisson/hint/rules.h"

// Limits that a command reached. Each hint names the limit and the option that raises it.

namespace caisson::hint {
namespace {

std::string InMebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + "MiB"; }

bool HasTimedOut(const Evidence& evidence) {
  return std::holds_alternative<sandbox::TimedOut>(evidence.result.outcome);
}

std::string TimeLimit(const Evidence& evidence) { return FormatDuration(evidence.command.timeout); }

}  // namespace

std::optional<Hint> DiskFull(const Evidence& evidence) {
  std::string_view subject;
  const std::string text = Complaints(evidence);
  const auto line = LastAnswer(text, [](std::string_view candidate) -> std::optional<std::string_view> {
    const auto phrase = FindPhrase(candidate, {"No space left on device", "Disk quota exceeded"});
    if (!phrase) return std::nullopt;
    return SubjectOf(candidate, *phrase);
  });
  if (!line && !evidence.result.disk_full) return std::nullopt;
  if (line) subject = *line;
  Hint hint{.code = "disk_full", .message = {}, .suggestion = {}};
  if (subject.starts_with("/dev/shm/")) {
    hint.message = "The folder of shared memory is full: " + Named(subject) + ".";
    hint.suggestion = "Write it below /tmp, or raise --memory, of which /dev/shm is an eighth.";
    return hint;
  }
  if (evidence.storage == plan::Storage::kDirectory) {
    hint.message = "The disk is full: the sandbox's files lie in a folder of the host, without a limit of their own.";
    hint.suggestion = "Free space on the host's disk, or use --storage btrfs with --disk.";
    return hint;
  }
  const Bytes held{plan::LayerBytes(evidence.storage, evidence.limits.disk.value, evidence.limits.memory.value)};
  const bool is_bound_by_memory = held < evidence.limits.disk;
  const std::string limit = FormatBytes(held);
  hint.message = "The sandbox's disk is full; it holds " + limit + ".";
  hint.suggestion = is_bound_by_memory ? "Remove what is not needed, or raise --memory above " +
                                             FormatBytes(evidence.limits.memory) + ": the disk holds half of it."
                                       : "Remove what is not needed, or raise --disk above " + limit + ".";
  return hint;
}

std::optional<Hint> OutOfMemory(const Evidence& evidence) {
  const sandbox::CommandResult& result = evidence.result;
  if (!std::holds_alternative<sandbox::OutOfMemory>(result.outcome) && !result.killed_for_memory) return std::nullopt;
  const std::string limit = FormatBytes(evidence.limits.memory);
  std::string message = "A process was ended at the memory limit of " + limit;
  if (result.memory_peak_bytes) message += " (peak " + InMebibytes(*result.memory_peak_bytes) + ")";
  return Hint{.code = "out_of_memory",
              .message = message + ".",
              .suggestion = "Let it hold less at a time, or raise --memory above " + limit + "."};
}

std::optional<Hint> TooManyProcesses(const Evidence& evidence) {
  if (!evidence.result.hit_process_limit) return std::nullopt;
  const std::string limit = std::to_string(evidence.limits.pids);
  return Hint{
      .code = "too_many_processes",
      .message = "A process or thread was refused: the command reached its share of the sandbox's " + limit + ".",
      .suggestion = "Run fewer at a time (such as `make -j2`), or raise --pids above " + limit + "."};
}

std::optional<Hint> TimedOutWaitingForInput(const Evidence& evidence) {
  if (!HasTimedOut(evidence) || !evidence.result.waits_for_input) return std::nullopt;
  return Hint{.code = "timed_out_waiting_for_input",
              .message = "The command still waited for input at its time limit of " + TimeLimit(evidence) + ".",
              .suggestion =
                  "Give it input that ends, such as `< /dev/null` or a pipe, or the option with which it asks "
                  "nothing, such as --yes or --batch."};
}

std::optional<Hint> TimedOut(const Evidence& evidence) {
  if (!HasTimedOut(evidence) || evidence.result.waits_for_input) return std::nullopt;
  return Hint{.code = "timed_out",
              .message = "The command reached its time limit of " + TimeLimit(evidence) + ".",
              .suggestion = "Raise --timeout above " + TimeLimit(evidence) +
                            ", or start what does not end, such as a server, in the background with `&`."};
}

}  // namespace caisson::hint
