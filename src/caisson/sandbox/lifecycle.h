#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace caisson::sandbox {

// What a sandbox that stays is doing. Every state has a reason beside it, delete is accepted in every one, and an
// intermediate state that outlives its deadline becomes kFailed.
enum class Lifecycle : std::uint8_t {
  kPending,  // being made
  kRunning,
  kPausing,
  kPaused,  // frozen: no process of it runs, its clocks stand
  kResuming,
  kStopping,
  kStopped,  // no process lives, its files stay: resume starts it anew with them
  kFailed,   // something broke; only delete is left
  kDeleted,  // nothing is left of it but this record
};

// The stable name: "pending", "running", ...
std::string_view LifecycleName(Lifecycle state);
std::optional<Lifecycle> ParseLifecycle(std::string_view name);

// The one table of what may follow what.
bool MayFollow(Lifecycle from, Lifecycle to);

// Whether it lasts only until something has been done, with a deadline for that.
bool IsIntermediate(Lifecycle state);

}  // namespace caisson::sandbox
