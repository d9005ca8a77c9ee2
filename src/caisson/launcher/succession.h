#pragma once

#include <optional>
#include <vector>

#include "caisson/launcher/answer.h"
#include "caisson/launcher/running_sandbox.h"
#include "caisson/launcher/storage_link.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// What lets sandboxes outlive their engine: each can be frozen by an order that is remembered, an engine leaves what
// has to be known of its running commands, and the next one finds the sandboxes and that, and takes them over.
// plan/launch_plan.h says what each verb is for. Not thread-safe.
class Succession {
 public:
  // Both are borrowed.
  Succession(RunningSandboxes& sandboxes, StorageLink& storage) : sandboxes_(sandboxes), storage_(storage) {}

  // For the verbs from kFreeze on. Nothing: the verb has no reply. Takes what it keeps out of `fds`.
  std::optional<Answer> Serve(const plan::LaunchRequest& request, std::vector<os::Fd>& fds);
  // The engine is gone, and with it what knew of leaves that no parked command runs in.
  void RetireLeaves();

 private:
  Answer Freeze(const plan::LaunchRequest& request);
  void Park(const plan::LaunchRequest& request, std::vector<os::Fd>& fds);
  void Unpark(const plan::LaunchRequest& request);
  Answer NextSandbox(const plan::LaunchRequest& request);
  Answer Adopt(const plan::LaunchRequest& request, const std::vector<os::Fd>& fds);
  Answer NextParked(const plan::LaunchRequest& request);
  RunningSandbox* Find(std::uint32_t block);

  RunningSandboxes& sandboxes_;
  StorageLink& storage_;
};

// Sends the guest's end of a control socket to the guest behind `door`, which serves that engine from then on. False
// when the guest has ended.
bool Admit(const os::Fd& door, const os::Fd& control);

}  // namespace caisson::launcher
