// The text of /proc/self/mountinfo. Mount points and sources carry names that anybody who may mount has chosen.

#include "caisson/os/cgroup_mounts.h"
#include "fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = caisson::fuzz::Input(data, size).TakeRest();
  const caisson::os::CgroupMounts mounts = caisson::os::ParseCgroupMounts(text);
  for (const auto& point : {mounts.unified, mounts.memory, mounts.cpu, mounts.pids}) {
    if (!point) continue;
    caisson::fuzz::Require(point->size() <= text.size(), "a mount point is no longer than the text that named it");
    caisson::fuzz::Require(!point->empty(), "a mount has a point");
  }
  return 0;
}
