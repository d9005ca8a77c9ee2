#include "caisson/sandbox/lifecycle.h"

#include <algorithm>
#include <array>

namespace caisson::sandbox {
namespace {

constexpr std::array<std::string_view, 9> kNames = {"pending",  "running", "pausing", "paused", "resuming",
                                                    "stopping", "stopped", "failed",  "deleted"};

struct Step {
  Lifecycle from;
  Lifecycle to;
};

// Beside these, every state but kDeleted may become kDeleted.
constexpr std::array kSteps = {
    Step{Lifecycle::kPending, Lifecycle::kRunning},  Step{Lifecycle::kPending, Lifecycle::kFailed},
    Step{Lifecycle::kRunning, Lifecycle::kPausing},  Step{Lifecycle::kRunning, Lifecycle::kStopping},
    Step{Lifecycle::kRunning, Lifecycle::kFailed},   Step{Lifecycle::kPausing, Lifecycle::kPaused},
    Step{Lifecycle::kPausing, Lifecycle::kFailed},   Step{Lifecycle::kPaused, Lifecycle::kResuming},
    Step{Lifecycle::kPaused, Lifecycle::kStopping},  Step{Lifecycle::kPaused, Lifecycle::kFailed},
    Step{Lifecycle::kResuming, Lifecycle::kRunning}, Step{Lifecycle::kResuming, Lifecycle::kFailed},
    Step{Lifecycle::kStopping, Lifecycle::kStopped}, Step{Lifecycle::kStopping, Lifecycle::kFailed},
};

}  // namespace

std::string_view LifecycleName(Lifecycle state) { return kNames.at(static_cast<std::size_t>(state)); }

std::optional<Lifecycle> ParseLifecycle(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Lifecycle>(found - kNames.begin());
}

bool MayFollow(Lifecycle from, Lifecycle to) {
  if (to == Lifecycle::kDeleted) return from != Lifecycle::kDeleted;
  return std::any_of(kSteps.begin(), kSteps.end(),
                     [&](const Step& step) { return step.from == from && step.to == to; });
}

bool IsIntermediate(Lifecycle state) {
  return state == Lifecycle::kPending || state == Lifecycle::kPausing || state == Lifecycle::kResuming ||
         state == Lifecycle::kStopping;
}

}  // namespace caisson::sandbox
