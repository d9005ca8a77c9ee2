#include "caisson/launcher/creation.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include "caisson/launcher/launch_request.h"
#include "caisson/launcher/root_mounts.h"
#include "caisson/launcher/succession.h"
#include "caisson/os/namespace.h"
#include "caisson/os/poll.h"
#include "caisson/os/socket.h"

namespace caisson::launcher {
namespace {

using plan::LaunchRequest;
using plan::Step;

// Less than the engine waits for the answer, each.
constexpr std::chrono::seconds kSlotPatience{10};
constexpr std::chrono::seconds kBuildPatience{15};
// More than an engine has threads: each of these holds descriptors.
constexpr std::size_t kMostWaiting = 512;

}  // namespace

void Creation::Ask(const LaunchRequest& request, std::vector<os::Fd>& fds) {
  auto waiting = Read(request, fds);
  if (!waiting) return Refuse(request.number, waiting.error());
  waiting_.push_back(*std::move(waiting));
}

tl::expected<Creation::Waiting, StepError> Creation::Read(const LaunchRequest& request, std::vector<os::Fd>& fds) {
  const auto refuse = [](Step step, int error) { return tl::unexpected(StepError{step, error, {}}); };
  const plan::LaunchPlan& plan = request.plan;
  if (!IsWellFormed(plan) || fds.size() != DescriptorsOf(plan, means_.expect)) return refuse(Step::kRequest, EINVAL);
  if (waiting_.size() + building_.size() >= kMostWaiting) return refuse(Step::kSlot, EAGAIN);
  LaunchInputs inputs{
      .control = std::move(fds[0]), .changes = std::move(fds[1]), .image = {}, .workspace = {}, .copy = {}};
  if (auto error = TakeFolders(plan, fds, inputs)) return tl::unexpected(*std::move(error));
  os::Fd door;
  if (means_.door != nullptr) {
    auto ends = os::SocketPair(os::SocketKind::kPacket);
    if (!ends || !Admit(ends->first, inputs.control)) return refuse(Step::kStartGuest, EMFILE);
    door = std::move(ends->first);
    inputs.control = std::move(ends->second);
  }
  return Waiting{.number = request.number,
                 .plan = plan,
                 .inputs = std::move(inputs),
                 .door = std::move(door),
                 .until = Deadline::In(kSlotPatience)};
}

// The folders of the host that the plan asks for: those of the engine until it has given up the rights with which its
// caller opened them, or those that were left at the door.
std::optional<StepError> Creation::TakeFolders(const plan::LaunchPlan& plan, std::vector<os::Fd>& fds,
                                               LaunchInputs& inputs) {
  const bool has_image = plan.image == plan::Image::kDirectory;
  const bool has_workspace = plan.workspace != plan::WorkspaceMode::kNone && plan.files == plan::Files::kNew;
  if (means_.door != nullptr) {
    if (has_image) {
      auto left = means_.door->Take(plan.image_ticket);
      if (!left) return StepError{Step::kImage, ENOKEY, {}};
      inputs.image = std::move(left->folder);
    }
    if (has_workspace) {
      auto left = means_.door->Take(plan.workspace_ticket);
      if (!left) return StepError{Step::kWorkspace, ENOKEY, {}};
      inputs.workspace = std::move(left->folder);
      inputs.copy = std::move(left->kept);
    }
    return std::nullopt;
  }
  if (is_sealed_ && (has_image || has_workspace)) return StepError{Step::kRequest, EPERM, {}};
  if (has_image) inputs.image = std::move(fds[2]);
  if (has_workspace) inputs.workspace = std::move(fds[has_image ? 3 : 2]);
  return std::nullopt;
}

std::vector<Creation::Outcome> Creation::TakeOutcomes() { return std::exchange(outcomes_, {}); }

void Creation::Refuse(std::uint64_t number, StepError error) {
  outcomes_.push_back({.number = number, .sandbox = tl::unexpected(std::move(error))});
}

void Creation::AppendTo(std::vector<pollfd>& entries) const {
  if (is_ordered_ && !embryo_) entries.push_back({means_.keeper.connection(), POLLIN, 0});
  for (const Building& one : building_) entries.push_back({one.embryo.report().get(), POLLIN, 0});
}

int Creation::PollTimeout() const {
  std::optional<Deadline> next;
  const auto consider = [&](const Deadline& deadline) {
    if (!next || deadline.at() < next->at()) next = deadline;
  };
  for (const Building& one : building_) consider(one.until);
  if (!waiting_.empty()) consider(waiting_.front().until);
  return next ? next->PollTimeout() : -1;
}

void Creation::GoOn() {
  CollectBuilt();
  while (!waiting_.empty() && ServeFirst()) {
  }
}

bool Creation::ServeFirst() {
  const std::uint64_t number = waiting_.front().number;
  std::optional<StepError> error;
  if (!embryo_) {
    if (!is_ordered_ && !OrderSlot()) {
      error = StepError{Step::kSlot, EPIPE, "the keeper has ended"};
    } else if (SlotIsThere()) {
      // Sandboxes are made faster than slots: the keeper does not wait for what is made in this one.
      error = PrepareEmbryo(NextSlot::kAtOnce);
    } else if (waiting_.front().until.Passed()) {
      error = StepError{Step::kSlot, ETIMEDOUT, "the keeper does not answer"};
    } else {
      return false;
    }
  }
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  if (error) {
    Refuse(number, *std::move(error));
  } else {
    Begin(std::move(first));
  }
  return true;
}

void Creation::Begin(Waiting waiting) {
  Embryo embryo = *std::move(embryo_);
  embryo_.reset();
  is_attached_ = true;
  if (auto error = launch_.Begin(waiting.plan, embryo, waiting.inputs)) {
    Discard(std::move(embryo));
    return Refuse(waiting.number, *std::move(error));
  }
  building_.push_back({.number = waiting.number,
                       .pids = waiting.plan.pids,
                       .id = waiting.plan.id,
                       .door = std::move(waiting.door),
                       .embryo = std::move(embryo),
                       .until = Deadline::In(kBuildPatience)});
}

void Creation::CollectBuilt() {
  std::vector<pollfd> entries;
  for (const Building& one : building_) entries.push_back({one.embryo.report().get(), POLLIN, 0});
  if (entries.empty() || !os::Poll(entries, 0)) return;
  std::size_t index = 0;
  for (auto one = building_.begin(); one != building_.end();) {
    const bool has_reported = entries[index++].revents != 0;
    if (!has_reported && !one->until.Passed()) {
      ++one;
      continue;
    }
    auto error = has_reported ? Launch::ReadReport(one->embryo)
                              : StepError{Step::kStartGuest, ETIMEDOUT, "the sandbox's first process does not answer"};
    if (error) {
      Refuse(one->number, *std::move(error));
      Discard(std::move(one->embryo));
    } else {
      outcomes_.push_back(
          {.number = one->number,
           .sandbox = RunningSandbox{.launched = {.slot = one->embryo.TakeSlot(), .guest = one->embryo.TakeProcess()},
                                     .pids = one->pids,
                                     .id = std::move(one->id),
                                     .door = std::move(one->door),
                                     .parked = {}}});
    }
    one = building_.erase(one);
  }
}

void Creation::TidyUp() {
  if (waiting_.empty() && building_.empty()) Detach();
}

void Creation::PrepareAhead() {
  if (!waiting_.empty() || embryo_) return;
  if (!is_ordered_) {
    // Not beside a guest that somebody waits for.
    if (building_.empty() && means_.expect != plan::Expect::kOneSandbox) (void)OrderSlot();
  } else if (SlotIsThere()) {
    (void)PrepareEmbryo(NextSlot::kLater);  // the next request tries again, and reports it
  }
}

bool Creation::SlotIsThere() const {
  pollfd entry{means_.keeper.connection(), POLLIN, 0};
  return os::Poll({&entry, 1}, 0) && entry.revents != 0;
}

Status Creation::OrderSlot() {
  Status ordered = means_.keeper.OrderSlot();
  is_ordered_ = ordered.has_value();
  return ordered;
}

std::optional<StepError> Creation::PrepareEmbryo(NextSlot next) {
  Detach();
  is_ordered_ = false;
  Result<Slot> slot = means_.keeper.TakeSlot();
  if (!slot) return StepError{Step::kSlot, slot.error().errno_value(), slot.error().message()};
  if (next == NextSlot::kAtOnce && means_.expect != plan::Expect::kOneSandbox) (void)OrderSlot();
  const std::uint32_t block = slot->block;
  if (const Status completed = AddNetwork(*slot); !completed) {
    (void)means_.keeper.ReturnSlot(block);
    return StepError{Step::kNetworkNamespace, completed.error().errno_value(), completed.error().message()};
  }
  auto embryo = launch_.Prepare(*slot);
  if (!embryo) {
    (void)means_.keeper.ReturnSlot(block);
    return embryo.error();
  }
  embryo_.emplace(*std::move(embryo));
  return std::nullopt;
}

// A slot that came without a network namespace gets the one made meanwhile, or a new one.
Status Creation::AddNetwork(Slot& slot) {
  if (slot.network_namespace.valid()) return {};
  if (first_network_.valid()) {
    slot.network_namespace = std::move(first_network_);
    return {};
  }
  CAISSON_TRY(slot.network_namespace, os::EnterNewNetworkNamespace());
  return os::EnterNamespace(own_network_);
}

// Before the next process is cloned, which would have them too.
void Creation::Detach() {
  if (std::exchange(is_attached_, false)) DetachLayers();
}

void Creation::Discard(Embryo embryo) {
  const std::uint32_t block = embryo.slot().block;
  {
    const Embryo ended = std::move(embryo);
  }
  TakeBack(block);
}

void Creation::TakeBack(std::uint32_t block) {
  (void)means_.storage.RemoveLayer(block);
  (void)means_.keeper.ReturnSlot(block);
}

void Creation::Abandon() {
  waiting_.clear();
  for (Building& one : building_) Discard(std::move(one.embryo));
  building_.clear();
}

void Creation::End() {
  Abandon();
  Detach();
  if (!embryo_) return;
  const std::uint32_t block = embryo_->slot().block;
  embryo_.reset();
  (void)means_.keeper.ReturnSlot(block);
}

}  // namespace caisson::launcher
