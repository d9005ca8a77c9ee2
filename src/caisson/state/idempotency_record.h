#pragma once

#include <string>

#include "caisson/base/id.h"
#include "caisson/state/unix_ms.h"

namespace caisson::state {

// A request that made a sandbox, so that its repetition finds that one instead of making another. It outlives the
// sandbox's record: the answer to a repetition is then that the sandbox is gone, not a second sandbox. Only of a
// sandbox that was never made nothing is remembered, so that a request which failed, or was cut short, can be made
// again.
struct IdempotencyRecord {
  std::string caller;
  std::string key;
  std::string request_sha256;  // 32 bytes: what was asked for under this key
  SandboxId sandbox;
  UnixMs created_at = 0;
};

}  // namespace caisson::state
