// Small files of the kernel: those of a cgroup, and what a thread is blocked in, whose numbers a command has chosen.

#include "caisson/os/blocked_call.h"
#include "caisson/os/cgroup.h"
#include "fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = caisson::fuzz::Input(data, size).TakeRest();
  (void)caisson::os::OomKills(text);
  (void)caisson::os::ProcessLimitHits(text);
  (void)caisson::os::IsPopulated(text);
  (void)caisson::os::CpuMicroseconds(text);
  if (const auto call = caisson::os::ParseBlockedCall(text)) {
    caisson::fuzz::Require(call->number >= 0, "a system call has no negative number");
    const auto descriptor = caisson::os::AwaitedDescriptor(*call);
    caisson::fuzz::Require(!descriptor || *descriptor >= 0, "a descriptor that is awaited is none below 0");
  }
  return 0;
}
