#include "caisson/service/lifetime.h"

namespace caisson::service {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::chrono::milliseconds UsedLifetime(const state::SandboxRecord& record, std::chrono::steady_clock::time_point now) {
  if (!record.running_since) return record.used_lifetime;
  return record.used_lifetime + (duration_cast<milliseconds>(now.time_since_epoch()) - *record.running_since);
}

state::SandboxUpdate LifetimeUpdate(milliseconds used, std::optional<milliseconds> most, LifetimeClock clock,
                                    const Instant& now) {
  state::SandboxUpdate update;
  update.used_lifetime = used;
  update.running_since.emplace();
  update.expires_at.emplace();
  if (clock == LifetimeClock::kStands) return update;
  update.running_since = duration_cast<milliseconds>(now.time.time_since_epoch());
  if (most) update.expires_at = now.time_of_day + (*most - used).count();
  return update;
}

}  // namespace caisson::service
