#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "caisson/launcher/leaves.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// A reply and the descriptors beside it.
struct Answer {
  plan::LaunchReply reply;
  std::vector<os::Fd> fds;
};

// Of a step that failed; an errno that is not known becomes EIO. A message that is too long is cut.
Answer Failed(plan::Step step, int errno_value, std::string_view message = {});

// Adds a leaf of this number behind the descriptors there are.
void AppendLeaf(std::uint32_t number, LeafFds leaf, Answer& answer);

}  // namespace caisson::launcher
