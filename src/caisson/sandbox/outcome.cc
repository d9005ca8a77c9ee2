#include "caisson/sandbox/outcome.h"

#include <array>

namespace caisson::sandbox {
namespace {

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

int StatusOfFailure(FailedToStart::Reason reason) {
  switch (reason) {
    case FailedToStart::Reason::kNotFound:
      return 127;
    case FailedToStart::Reason::kNotExecutable:
      return 126;
    case FailedToStart::Reason::kOther:
      return 125;
  }
  return 125;
}

}  // namespace

std::string_view OutcomeName(const Outcome& outcome) {
  constexpr std::array<std::string_view, std::variant_size_v<Outcome>> kNames = {
      "exited",          "signaled", "timed_out",      "out_of_memory", "cancelled",
      "failed_to_start", "denied",   "needs_approval", "completed"};
  return kNames[outcome.index()];
}

int ExitStatus(const Outcome& outcome) {
  return std::visit(Match{
                        [](const Exited& exited) { return exited.code; },
                        [](const Signaled& signaled) { return 128 + signaled.signal; },
                        [](const TimedOut&) { return 124; },
                        [](const OutOfMemory&) { return 137; },
                        [](const Cancelled&) { return 130; },
                        [](const FailedToStart& failed) { return StatusOfFailure(failed.reason); },
                        [](const Denied&) { return 126; },
                        [](const NeedsApproval&) { return 126; },
                        [](const Completed&) { return 0; },
                    },
                    outcome);
}

}  // namespace caisson::sandbox
