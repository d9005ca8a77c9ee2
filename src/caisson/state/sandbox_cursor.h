#pragma once

#include <string>

#include "caisson/base/result.h"
#include "caisson/state/unix_ms.h"

namespace caisson::state {

// Where a page of sandboxes ended: after the one with this time and this id. As text it is opaque to callers, safe in a
// URL, and comes back from strangers.
struct SandboxCursor {
  UnixMs created_at = 0;
  std::string id;

  std::string Text() const;
  // Errors: kInvalidArgument.
  static Result<SandboxCursor> Parse(const std::string& text);
};

}  // namespace caisson::state
