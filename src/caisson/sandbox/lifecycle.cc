#include "caisson/sandbox/lifecycle.h"

#include <array>
#include <utility>

namespace caisson::sandbox {
namespace {

using enum Lifecycle;

constexpr std::array<std::pair<Lifecycle, std::string_view>, 9> kNames = {{{kPending, "pending"},
                                                                           {kRunning, "running"},
                                                                           {kPausing, "pausing"},
                                                                           {kPaused, "paused"},
                                                                           {kResuming, "resuming"},
                                                                           {kStopping, "stopping"},
                                                                           {kStopped, "stopped"},
                                                                           {kFailed, "failed"},
                                                                           {kDeleted, "deleted"}}};

struct Transition {
  Lifecycle from;
  Lifecycle to;
};

// Besides these every state but kDeleted may become kFailed or kDeleted.
constexpr Transition kTransitions[] = {
    {kPending, kRunning},   {kRunning, kPausing},  {kPausing, kPaused},   {kPausing, kRunning},  {kPaused, kResuming},
    {kResuming, kRunning},  {kResuming, kPaused},  {kRunning, kStopping}, {kPaused, kStopping},  {kPausing, kStopping},
    {kResuming, kStopping}, {kStopping, kRunning}, {kStopping, kPaused},  {kStopping, kStopped}, {kStopped, kResuming},
    {kResuming, kStopped},  {kRunning, kStopped},  {kPausing, kStopped},  {kPaused, kStopped},
};

}  // namespace

std::string_view LifecycleName(Lifecycle state) {
  for (const auto& [known, name] : kNames) {
    if (known == state) return name;
  }
  return "unknown";
}

std::optional<Lifecycle> ParseLifecycle(std::string_view name) {
  for (const auto& [state, known] : kNames) {
    if (known == name) return state;
  }
  return std::nullopt;
}

bool MayFollow(Lifecycle from, Lifecycle to) {
  if (from == kDeleted || from == to) return false;
  if (to == kDeleted) return true;
  if (to == kFailed) return true;
  for (const Transition& transition : kTransitions) {
    if (transition.from == from && transition.to == to) return true;
  }
  return false;
}

bool IsIntermediate(Lifecycle state) {
  return state == kPending || state == kPausing || state == kResuming || state == kStopping;
}

}  // namespace caisson::sandbox
