#include "caisson/launcher/launch_request.h"

#include <cerrno>
#include <cstring>

namespace caisson::launcher {

tl::expected<plan::LaunchRequest, int> ReadLaunchRequest(std::string_view message) {
  plan::LaunchRequest request;
  if (message.size() != sizeof request) return tl::unexpected(EBADMSG);
  std::memcpy(&request, message.data(), sizeof request);
  if (request.version != plan::kLaunchVersion) return tl::unexpected(EPROTO);
  if (request.verb > plan::Verb::kDiscard) return tl::unexpected(EBADMSG);
  request.parked.id[sizeof request.parked.id - 1] = '\0';
  return request;
}

bool NamesSandbox(const plan::LaunchPlan& plan) {
  return plan.storage <= plan::Storage::kBtrfs && plan.id[sizeof plan.id - 1] == '\0' &&
         std::strspn(plan.id, "abcdefghijklmnopqrstuvwxyz234567_") == std::strlen(plan.id) && plan.id[0] != '\0';
}

bool IsWellFormed(const plan::LaunchPlan& plan) {
  // What is kept has no folder of the host.
  const bool fits_kept = plan.files == plan::Files::kNew ||
                         (plan.image == plan::Image::kHost && (plan.workspace == plan::WorkspaceMode::kNone ||
                                                               plan.workspace == plan::WorkspaceMode::kCopy));
  return NamesSandbox(plan) && plan.files <= plan::Files::kKept && fits_kept && plan.image <= plan::Image::kDirectory &&
         plan.workspace <= plan::WorkspaceMode::kReadWrite && plan.execution <= plan::Execution::kProgramFolders &&
         plan.pids > 0 && plan.memory_bytes > 0 && plan.disk_bytes > 0 && plan.milli_cpus > 0;
}

std::size_t DescriptorsOf(const plan::LaunchPlan& plan, plan::Expect expect) {
  if (expect == plan::Expect::kEngines) return 2;
  const bool has_image = plan.image == plan::Image::kDirectory;
  const bool has_workspace = plan.workspace != plan::WorkspaceMode::kNone && plan.files == plan::Files::kNew;
  return std::size_t{2} + std::size_t{has_image} + std::size_t{has_workspace};
}

}  // namespace caisson::launcher
