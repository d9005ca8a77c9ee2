#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "caisson/backend/launcher_link.h"
#include "caisson/backend/layer.h"
#include "caisson/backend/leaf.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/plan/kernel_plan.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/proto/guest.pb.h"

namespace caisson::backend {

// One running sandbox of the process tier as the engine holds it: the guest's control stream, the sandbox's kill switch
// and the leaves of its commands. Thread-safe. Destroying it destroys the sandbox.
class Instance {
 public:
  // `fds`: the image and workspace descriptors that `plan` asks for. Blocks until the guest has locked itself down.
  // `meanwhile`, which may be empty, is done while the guest starts; its error undoes all of it.
  static Result<std::unique_ptr<Instance>> Create(LauncherLink& link, const plan::LaunchPlan& plan,
                                                  const std::vector<int>& fds,
                                                  const std::function<Status()>& meanwhile = {});
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // One that another engine made, of a launcher that expects several. Greet comes before anything else that asks the
  // guest, and of a frozen one after it is thawed.
  struct TakenOver {
    std::unique_ptr<Instance> instance;
    bool is_frozen = false;
  };
  static Result<TakenOver> TakeOver(LauncherLink& link, std::uint32_t slot);
  // The numbers of the commands that run in it. Errors: kUnsupported for a guest that speaks another version.
  Result<std::vector<std::uint64_t>> Greet();
  // What the launcher keeps of running commands for whoever takes the sandbox over; see plan::LaunchRequest.
  Result<std::vector<LauncherLink::ParkedCommand>> TakeParked();
  Status Park(const Leaf& leaf, const plan::ParkedCommand& command, const std::vector<int>& fds);
  Status Unpark(const Leaf& leaf);
  // Stops every process of the sandbox where it is, or lets them go on. Errors: kDeadlineExceeded when that is not so
  // by the deadline.
  Status SetFrozen(LauncherLink::Freezer freezer, const Deadline& deadline);
  // Readable once the sandbox has ended, whatever the reason. Borrowed.
  int ended_fd() const { return guest_.get(); }

  struct Started {
    std::uint64_t command = 0;
    os::Fd end;                 // closes, after one proto::End, when the command's own process ended
    std::vector<os::Fd> stdio;  // stdin, stdout, stderr, or one terminal
    std::optional<Leaf> leaf;
    int error = 0;  // errno of the step that failed; then nothing runs
    std::string step;
  };
  // Shared with whoever starts commands under it, so that it is known by its address.
  using SharedPlan = std::shared_ptr<const plan::KernelPlan>;
  // `plan`: what binds it beside what binds every command; nullptr: nothing. It is sent to the guest once and kept
  // there as long as it is among the few that came last.
  Result<Started> Start(const proto::StartCommand& request, const SharedPlan& plan = nullptr);
  Status Signal(std::uint64_t command, int signal);
  // Whether a process of the command waits for its input, of which `input` is our end. What cannot be found out within
  // 25 ms is a no.
  bool WaitsForInput(const Leaf& leaf, int input) const;
  // Says that the command of this leaf is over: it serves the next one, or is removed when nothing lives in it any
  // more.
  void Return(Leaf leaf);

  // The number of its block of ids.
  std::uint32_t slot() const { return slot_; }
  // The files of the sandbox that are its own.
  Layer& layer() { return layer_; }

  // Kills every process at once, without the guest's or the launcher's help. For a sandbox that does not answer.
  void KillAll() const;
  // Idempotent. Returns when no process is left. After an error it tries again.
  Status Destroy();
  // Lets go of it without ending it: another engine takes it over. Nothing else may be called then.
  void Leave();

 private:
  Instance(LauncherLink& link, os::Fd control, os::Fd changes, std::uint32_t slot, os::PidFd guest, os::Fd kill);

  Result<proto::Reply> Ask(const proto::Request& request, const std::vector<int>& fds, std::vector<os::Fd>& answer_fds);
  Result<Leaf> TakeLeaf();
  Result<std::uint64_t> NumberOf(const SharedPlan& plan, std::uint32_t id);
  std::uint32_t NextRetired();

  LauncherLink& link_;
  std::uint32_t slot_;
  os::PidFd guest_;
  os::Fd kill_;
  Layer layer_;

  std::mutex control_mutex_;  // one request on the stream at a time
  os::Fd control_;

  struct SentPlan {
    SharedPlan plan;
    std::uint32_t id;
    std::uint64_t number;
  };
  std::mutex plans_mutex_;  // outside of the control stream's
  std::deque<SentPlan> plans_;

  std::mutex state_mutex_;  // what follows
  std::vector<Leaf> ready_leaves_;
  std::vector<std::uint32_t> retired_;
  bool destroyed_ = false;  // or about to be: nothing is begun any more

  std::mutex destroy_mutex_;  // one at a time; outermost
  bool is_gone_ = false;      // or left to another engine
};

}  // namespace caisson::backend
