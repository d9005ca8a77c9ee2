#include "caisson/launcher/answer.h"

#include <cerrno>
#include <utility>

namespace caisson::launcher {

Answer Failed(plan::Step step, int errno_value, std::string_view message) {
  Answer answer;
  message.copy(answer.reply.message, sizeof answer.reply.message - 1);
  answer.reply.failed_step = step;
  answer.reply.error = errno_value == 0 ? EIO : errno_value;
  return answer;
}

void AppendLeaf(std::uint32_t number, LeafFds leaf, Answer& answer) {
  answer.reply.leaf = number;
  answer.reply.leaf_guest_fds = static_cast<std::uint32_t>(leaf.guest.size());
  for (os::Fd& fd : leaf.engine) answer.fds.push_back(std::move(fd));
  for (os::Fd& fd : leaf.guest) answer.fds.push_back(std::move(fd));
}

}  // namespace caisson::launcher
