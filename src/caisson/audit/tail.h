#pragma once

#include <cstdint>
#include <optional>

#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/record/chain.h"

namespace caisson::audit {

// Where an audit file ends.
struct Tail {
  std::optional<record::Head> last;  // of the last whole line; nothing: there is none
  std::uint64_t whole_size = 0;      // bytes up to its newline
  std::uint64_t torn_size = 0;       // bytes behind it
};

// Reads the end of the file and no more. Errors: kInternal when its last whole line is no unchanged record of the
// sandbox, and those of the system calls.
Result<Tail> ReadTail(const os::Fd& file, const SandboxId& sandbox);

}  // namespace caisson::audit
