#pragma once

#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::backend {

// The engine's and the depositor's side of the launcher's door (launcher/door.h): the socket `launcher.sock` in the
// runtime folder, which only root may open.

// Makes the socket in place of one that nobody listens at. Call as root.
Result<os::Fd> OpenDoor(const os::Fd& runtime);

// A connection to who listens there; an invalid descriptor when nobody does.
Result<os::Fd> ConnectToDoor(const os::Fd& runtime);

// Says who comes, with a folder for Hello::kDeposit, and waits for the answer, at most 5 s.
Result<plan::DoorReply> SayAtDoor(const os::Fd& connection, plan::Hello hello, const std::vector<int>& fds);

}  // namespace caisson::backend
