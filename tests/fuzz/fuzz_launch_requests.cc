// What the launcher, which is root, takes from an engine that somebody has taken over.
// Input: one message.

#include <cstring>
#include <string>

#include "caisson/launcher/launch_request.h"
#include "caisson/launcher/leaves.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace launcher = caisson::launcher;
namespace plan = caisson::plan;

void RequireName(const plan::LaunchPlan& plan) {
  Require(std::memchr(plan.id, '\0', sizeof plan.id) != nullptr, "an id ends");
  const std::string_view id = plan.id;
  Require(!id.empty() && id.find_first_of("./ \n") == std::string_view::npos, "an id is the name of one file");
}

void RequireUsable(const plan::LaunchPlan& plan) {
  RequireName(plan);
  Require(plan.files == plan::Files::kNew || (plan.files == plan::Files::kKept && plan.image == plan::Image::kHost &&
                                              plan.workspace <= plan::WorkspaceMode::kCopy),
          "what was kept has no folder of the host");
  Require(plan.image == plan::Image::kHost || plan.image == plan::Image::kDirectory, "an image is one there is");
  const std::size_t folders = launcher::DescriptorsOf(plan, plan::Expect::kOneSandbox) - 2;
  Require(folders <= 2, "a sandbox has at most two folders of the host");
  Require((folders == 0) == (plan.files == plan::Files::kKept ||
                             (plan.image == plan::Image::kHost && plan.workspace == plan::WorkspaceMode::kNone)),
          "a folder has a purpose");
  const std::uint64_t bytes = plan::LayerBytes(plan.storage, plan.disk_bytes, plan.memory_bytes);
  Require(bytes <= plan.disk_bytes, "a layer holds no more than was asked for");
  const std::uint32_t pids = launcher::LeafPids(plan.pids);
  Require(pids > 0 && pids <= plan.pids, "a command has processes, and no more than its sandbox");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message = caisson::fuzz::Input(data, size).TakeRest();
  const auto request = launcher::ReadLaunchRequest(message);
  if (!request) {
    Require(request.error() != 0, "a refusal has a reason");
    return 0;
  }
  Require(message.size() == sizeof *request, "a request has the size of one");
  Require(request->verb <= plan::Verb::kDiscard, "a verb is one there is");
  if (launcher::NamesSandbox(request->plan)) RequireName(request->plan);
  if (request->verb == plan::Verb::kCreate && launcher::IsWellFormed(request->plan)) RequireUsable(request->plan);
  return 0;
}
