#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caisson/backend/data_folders.h"
#include "caisson/backend/launcher_exchange.h"
#include "caisson/backend/leaf.h"
#include "caisson/base/deadline.h"
#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/os/process.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::backend {

// The engine's connection to the launcher. Thread-safe. Closing it makes the launcher end every sandbox and itself,
// unless it expects further engines.
class LauncherLink {
 public:
  // Starts `caisson-launcher` from `program_directory`. Call as root, from the only thread.
  static Result<std::unique_ptr<LauncherLink>> Start(const std::string& program_directory, const DataFolders& folders,
                                                     plan::Expect expect);
  // The launcher of these folders that outlived its engine (kEngines); nullptr when there is none. Call as root.
  static Result<std::unique_ptr<LauncherLink>> FindLiving(const DataFolders& folders);
  // A launcher that runs already: `process`, at the other end of `connection`.
  static std::unique_ptr<LauncherLink> Adopt(os::Fd connection, os::PidFd process, plan::Expect expect);
  // With kManySandboxes waits until the launcher and what it started have cleaned up, at most 10 s.
  ~LauncherLink();
  LauncherLink(const LauncherLink&) = delete;
  LauncherLink& operator=(const LauncherLink&) = delete;

  struct Created {
    std::uint32_t slot = 0;
    os::PidFd guest;
    os::Fd kill;  // ends every process of the sandbox
    Leaf first_leaf;
  };
  // `fds` as plan::LaunchRequest says. Errors: kUnsupported, kResourceExhausted; kUnavailable when the launcher is
  // gone.
  Result<Created> Create(const plan::LaunchPlan& plan, const std::vector<int>& fds);
  // A fresh leaf; `retired_leaf`, when not 0, is removed once nothing runs in it.
  Result<Leaf> RotateLeaf(std::uint32_t slot, std::uint32_t retired_leaf);
  // From now on the launcher takes no folder of the host from this process. To be called before giving up root: an
  // engine that somebody takes over must not have files of root mounted that it could open, but not write.
  Status Seal();
  // Whether a process of a leaf waits for this input. Errors: kDeadlineExceeded.
  Result<bool> WaitsForInput(std::uint32_t slot, std::uint32_t leaf, const plan::CommandInput& input,
                             const Deadline& deadline);
  // Of a launcher that outlives its engine (plan/launch_plan.h says what each is for).
  struct Survivor {
    std::uint32_t slot = 0;
    SandboxId id;
  };
  // The sandbox with the lowest slot above `after`, 0 for the first.
  Result<std::optional<Survivor>> NextSandbox(std::uint32_t after);
  struct TakenOver {
    os::PidFd guest;
    os::Fd kill;
    bool is_frozen = false;
  };
  Result<TakenOver> TakeOver(std::uint32_t slot, const std::vector<int>& fds);
  struct ParkedCommand {
    plan::ParkedCommand command;
    std::vector<os::Fd> fds;
    Leaf leaf;
  };
  Result<std::optional<ParkedCommand>> NextParked(std::uint32_t slot, std::uint32_t after);
  Status Park(std::uint32_t slot, std::uint32_t leaf, const plan::ParkedCommand& command, const std::vector<int>& fds);
  Status Unpark(std::uint32_t slot, std::uint32_t leaf);

  // Orders it, and says whether no process of the sandbox runs. To be asked again until that is as ordered.
  enum class Freezer { kFrozen, kThawed };
  Result<bool> SetFrozen(std::uint32_t slot, Freezer freezer);
  // Whether the files of a sandbox that has ended were kept, and their removal. `plan`: its id and its storage count.
  // Errors of the second: kNotFound; kConflict while somebody uses them.
  Result<bool> HasKept(const plan::LaunchPlan& plan);
  Status DiscardKept(const plan::LaunchPlan& plan);
  // Hangs up when the launcher has ended. Borrowed.
  int connection() const { return exchange_.connection(); }

  // Lets the launcher clean up after a sandbox whose guest has died. Does not wait for it.
  Status Forget(std::uint32_t slot);

 private:
  LauncherLink(os::Fd connection, os::PidFd process, plan::Expect expect)
      : exchange_(std::move(connection)), process_(std::move(process)), expect_(expect) {}

  using Answer = LauncherExchange::Answer;
  Status Tell(const plan::LaunchRequest& request, const std::vector<int>& fds = {});
  Result<Answer> Ask(const plan::LaunchRequest& request, const std::vector<int>& fds);

  LauncherExchange exchange_;
  os::PidFd process_;
  plan::Expect expect_;
};

}  // namespace caisson::backend
