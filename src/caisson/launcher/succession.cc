#include "caisson/launcher/succession.h"

#include <cerrno>
#include <string>
#include <utility>

#include "caisson/launcher/leaves.h"
#include "caisson/os/cgroup.h"
#include "caisson/os/socket.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::launcher {

using plan::LaunchRequest;
using plan::Step;
using storage::UidBlocks;

bool Admit(const os::Fd& door, const os::Fd& control) {
  return os::SendWithFds(door.get(), "c", std::vector<int>{control.get()}).has_value();
}

std::optional<Answer> Succession::Serve(const LaunchRequest& request, std::vector<os::Fd>& fds) {
  switch (request.verb) {
    case plan::Verb::kFreeze:
    case plan::Verb::kThaw:
      return Freeze(request);
    case plan::Verb::kPark:
      Park(request, fds);
      return std::nullopt;
    case plan::Verb::kUnpark:
      Unpark(request);
      return std::nullopt;
    case plan::Verb::kNextSandbox:
      return NextSandbox(request);
    case plan::Verb::kAdopt:
      return Adopt(request, fds);
    case plan::Verb::kNextParked:
      return NextParked(request);
    default:
      return Failed(Step::kRequest, EBADMSG);
  }
}

RunningSandbox* Succession::Find(std::uint32_t block) {
  const auto found = sandboxes_.find(block);
  return found == sandboxes_.end() ? nullptr : &found->second;
}

Answer Succession::Freeze(const LaunchRequest& request) {
  RunningSandbox* const sandbox = Find(request.slot);
  if (sandbox == nullptr) return Failed(Step::kCgroup, ENOENT);
  const os::Cgroup& cgroup = sandbox->launched.slot.sandbox;
  sandbox->is_frozen_by_order = request.verb == plan::Verb::kFreeze;
  const Status set =
      cgroup.Set(sandbox->is_frozen_by_order ? os::Cgroup::Freezer::kFrozen : os::Cgroup::Freezer::kThawed);
  if (!set) return Failed(Step::kCgroup, set.error().errno_value(), set.error().message());
  const auto frozen = cgroup.IsFrozen();
  if (!frozen) return Failed(Step::kCgroup, frozen.error().errno_value(), frozen.error().message());
  Answer answer;
  answer.reply.frozen = *frozen ? 1 : 0;
  return answer;
}

void Succession::Park(const LaunchRequest& request, std::vector<os::Fd>& fds) {
  constexpr std::size_t kMostParked = 4096;
  RunningSandbox* const sandbox = Find(request.slot);
  const bool has_place = sandbox != nullptr && sandbox->parked.size() < kMostParked;
  if (!has_place || fds.size() < plan::kLeastParkedFds || fds.size() > plan::kMostParkedFds) return;
  sandbox->parked.insert_or_assign(request.leaf, Parked{request.parked, std::move(fds)});
}

void Succession::Unpark(const LaunchRequest& request) {
  if (RunningSandbox* const sandbox = Find(request.slot)) sandbox->parked.erase(request.leaf);
}

void Succession::RetireLeaves() {
  for (auto& [block, sandbox] : sandboxes_) {
    for (const std::uint32_t leaf : sandbox.leaves) {
      if (!sandbox.parked.contains(leaf)) sandbox.retired_leaves.insert(leaf);
    }
  }
}

Answer Succession::NextSandbox(const LaunchRequest& request) {
  Answer answer;
  if (const auto* next = NextAfter(sandboxes_, request.slot)) {
    answer.reply.slot = next->first;
    next->second.id.copy(answer.reply.id, sizeof answer.reply.id - 1);
  }
  return answer;
}

Answer Succession::Adopt(const LaunchRequest& request, const std::vector<os::Fd>& fds) {
  RunningSandbox* const sandbox = Find(request.slot);
  if (sandbox == nullptr || fds.size() != 2) return Failed(Step::kRequest, sandbox == nullptr ? ENOENT : EINVAL);
  auto guest = sandbox->launched.guest.Duplicate();
  auto kill = sandbox->launched.slot.sandbox.OpenKill();
  if (!guest || !kill) return Failed(Step::kStartGuest, EMFILE);
  if (!Admit(sandbox->door, fds[0])) return Failed(Step::kStartGuest, EPIPE, "the sandbox has ended");
  (void)storage_.Connect(request.slot, fds[1]);
  Answer answer;
  answer.reply.slot = request.slot;
  answer.reply.is_frozen_by_order = sandbox->is_frozen_by_order ? 1 : 0;
  sandbox->id.copy(answer.reply.id, sizeof answer.reply.id - 1);
  answer.fds.push_back(*std::move(guest));
  answer.fds.push_back(*std::move(kill));
  return answer;
}

Answer Succession::NextParked(const LaunchRequest& request) {
  RunningSandbox* const sandbox = Find(request.slot);
  if (sandbox == nullptr) return Failed(Step::kLeaf, ENOENT);
  Answer answer;
  const auto* next = NextAfter(sandbox->parked, request.leaf);
  if (next == nullptr) return answer;
  const Slot& slot = sandbox->launched.slot;
  auto cgroup = slot.sandbox.FindChild(LeafName(next->first));
  if (!cgroup || !*cgroup) return Failed(Step::kLeaf, ENOENT);
  auto leaf = OpenLeaf(**cgroup, slot.sandbox, sandbox->pids, UidBlocks::FirstId(slot.block) + kGuestId);
  if (!leaf) return Failed(Step::kLeaf, leaf.error().errno_value(), leaf.error().message());
  for (const os::Fd& fd : next->second.fds) {
    auto duplicate = fd.Duplicate();
    if (!duplicate) return Failed(Step::kLeaf, EMFILE);
    answer.fds.push_back(*std::move(duplicate));
  }
  answer.reply.slot = slot.block;
  answer.reply.parked = next->second.command;
  answer.reply.parked_fds = static_cast<std::uint32_t>(answer.fds.size());
  AppendLeaf(next->first, *std::move(leaf), answer);
  return answer;
}

}  // namespace caisson::launcher
