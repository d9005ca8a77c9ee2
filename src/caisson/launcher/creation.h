#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/launcher/door.h"
#include "caisson/launcher/keeper.h"
#include "caisson/launcher/launch.h"
#include "caisson/launcher/running_sandbox.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Makes sandboxes, several at once: what one waits for, a slot of the keeper's or a guest that builds its root, keeps
// neither the others nor the launcher. Not thread-safe.
class Creation {
 public:
  // What it works with; borrowed.
  struct Means {
    Keeper& keeper;
    StorageLink& storage;
    const HostTrees& trees;
    Door* door;  // with kEngines; else nullptr
    plan::Expect expect;
  };
  // `own_network`: the launcher's network namespace; `first_network`: that of the first sandbox, with kOneSandbox. The
  // first slot has been ordered.
  Creation(const Means& means, os::Fd own_network, os::Fd first_network)
      : means_(means),
        own_network_(std::move(own_network)),
        first_network_(std::move(first_network)),
        launch_(means.trees, means.storage) {}

  // kCreate. Takes what it needs out of `fds`.
  void Ask(const plan::LaunchRequest& request, std::vector<os::Fd>& fds);
  // What came of a request.
  struct Outcome {
    std::uint64_t number = 0;  // of the request
    tl::expected<RunningSandbox, StepError> sandbox;
  };
  std::vector<Outcome> TakeOutcomes();
  // No folder is taken from the engine any more.
  void Seal() { is_sealed_ = true; }

  // When there is something to go on with: at the latest after PollTimeout.
  void AppendTo(std::vector<pollfd>& entries) const;
  int PollTimeout() const;
  // Goes on with what is asked for as far as that is possible now.
  void GoOn();
  // Once what there is to say was said: does what nobody waits for.
  void TidyUp();
  // While nothing is asked for: makes what the next request needs, as far as that is possible now.
  void PrepareAhead();
  // What is begun and has no outcome is undone: nobody waits for it any more.
  void Abandon();
  // Also of what was prepared. Nothing may be asked for then.
  void End();

  // Of a sandbox whose processes are dead. Layer and block are taken back at the same time: nobody can get the layer.
  void TakeBack(std::uint32_t block);

 private:
  struct Waiting {
    std::uint64_t number = 0;
    plan::LaunchPlan plan;
    LaunchInputs inputs;
    os::Fd door;
    Deadline until;  // when there must be a slot for it
  };
  struct Building {
    std::uint64_t number = 0;
    std::uint32_t pids = 0;
    std::string id;
    os::Fd door;
    Embryo embryo;
    Deadline until;
  };

  tl::expected<Waiting, StepError> Read(const plan::LaunchRequest& request, std::vector<os::Fd>& fds);
  std::optional<StepError> TakeFolders(const plan::LaunchPlan& plan, std::vector<os::Fd>& fds, LaunchInputs& inputs);
  // When the slot after an embryo's is ordered.
  enum class NextSlot : std::uint8_t { kAtOnce, kLater };
  // Of the slot that was ordered and is there.
  std::optional<StepError> PrepareEmbryo(NextSlot next);
  bool SlotIsThere() const;
  Status OrderSlot();
  // Whether the first of those that wait waits no longer.
  bool ServeFirst();
  void Begin(Waiting waiting);
  void CollectBuilt();
  void Discard(Embryo embryo);
  void Refuse(std::uint64_t number, StepError error);
  Status AddNetwork(Slot& slot);
  void Detach();

  Means means_;
  os::Fd own_network_;
  os::Fd first_network_;
  Launch launch_;
  bool is_sealed_ = false;
  bool is_ordered_ = true;    // a slot
  bool is_attached_ = false;  // what Launch::Begin leaves attached
  std::optional<Embryo> embryo_;
  std::deque<Waiting> waiting_;
  std::list<Building> building_;
  std::vector<Outcome> outcomes_;
};

}  // namespace caisson::launcher
