#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/id.h"
#include "caisson/state/page.h"
#include "caisson/state/policy_record.h"
#include "caisson/state/unix_ms.h"

namespace caisson::state {

// What the node remembers of a sandbox, from the moment somebody asked for it until after its end. The opaque parts are
// written and read by the layers above; nothing here looks into them.
struct SandboxRecord {
  SandboxId id;
  std::optional<std::string> name = {};  // unique among sandboxes that are not deleted
  // One of pending, running, pausing, paused, resuming, stopping, stopped, failed, deleted.
  std::string state = "pending";
  std::string reason = {};  // why it is in this state; may be empty
  std::string spec = {};    // opaque
  std::map<std::string, std::string> labels = {};
  UnixMs created_at = 0;
  UnixMs changed_at = 0;                   // of the last change of state
  std::optional<UnixMs> deadline_at = {};  // when the present state has lasted too long
  std::optional<UnixMs> expires_at = {};
  std::optional<std::chrono::milliseconds> idle_timeout = {};
  std::chrono::milliseconds used_lifetime{};  // up to running_since
  // On CLOCK_MONOTONIC of the boot that it lives in; absent: its clock stands.
  std::optional<std::chrono::milliseconds> running_since = {};
  UnixMs last_active_at = 0;
  std::uint64_t last_step = 0;            // given to its newest command; 0: it had none
  std::string launcher = {};              // opaque: how to find the process that holds it again
  std::string on_end = {};                // what becomes of it when its time is over, as the caller put it
  std::optional<PolicyName> policy = {};  // read only; absent: it was made before sandboxes had any
};

// What changes in a sandbox's record beside its state. What is absent stays as it is.
struct SandboxUpdate {
  std::optional<std::string> launcher = {};
  std::optional<std::optional<UnixMs>> expires_at = {};  // an empty one inside removes it
  std::optional<std::chrono::milliseconds> used_lifetime = {};
  std::optional<std::optional<std::chrono::milliseconds>> running_since = {};  // the same
  std::optional<UnixMs> last_active_at = {};
  std::optional<std::map<std::string, std::string>> labels = {};  // all of them
};

// A step of a sandbox's life, which happens when its state is `from`.
struct StateChange {
  SandboxId id;
  std::string from;
  std::string to;
  UnixMs at = 0;
  std::string reason = {};
  std::optional<UnixMs> deadline_at = {};  // absent: the new state may last
  SandboxUpdate also = {};
};

// Which sandboxes a list holds: those for which all of it is true, oldest first.
struct SandboxFilter {
  std::optional<std::string> state = {};                // absent: every state but deleted
  std::multimap<std::string, std::string> labels = {};  // all must be equal; at most kMaxFilterLabels
  std::uint32_t limit = 100;                            // 1 to kMaxPage
  std::optional<std::string> cursor = {};               // SandboxPage::next_cursor of the page before
};

inline constexpr std::uint32_t kMaxFilterLabels = 16;

struct SandboxPage {
  std::vector<SandboxRecord> sandboxes;
  std::optional<std::string> next_cursor;  // absent: that was the last page
};

}  // namespace caisson::state
