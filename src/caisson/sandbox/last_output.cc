#include "caisson/sandbox/last_output.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace caisson::sandbox {

bool LastOutput::Await(const std::array<int, 2>& sources) const {
  if (std::ranges::all_of(sources, [](int source) { return source < 0; })) return false;
  const Deadline quiet(std::min(Deadline::In(kQuiet).at(), whole_.at()));
  while (!quiet.Passed()) {
    std::array<pollfd, 2> entries{{{sources[0], POLLIN, 0}, {sources[1], POLLIN, 0}}};
    const int ready = poll(entries.data(), entries.size(), quiet.PollTimeout());
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

}  // namespace caisson::sandbox
