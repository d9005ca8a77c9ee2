#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "caisson/launcher/launch.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// What an engine left of a running command for the next one.
struct Parked {
  plan::ParkedCommand command;
  std::vector<os::Fd> fds;
};

// One sandbox as the launcher holds it.
struct RunningSandbox {
  Launched launched;
  std::uint32_t pids = 0;
  std::uint32_t last_leaf = 1;
  std::set<std::uint32_t> leaves{1};         // all that exist
  std::set<std::uint32_t> retired_leaves{};  // no command will run in these, but perhaps what one left behind does
  // With plan::Expect::kEngines:
  std::string id;
  os::Fd door;                             // to the guest: control streams go through it
  std::map<std::uint32_t, Parked> parked;  // by leaf
  bool is_frozen_by_order = false;
};

using RunningSandboxes = std::map<std::uint32_t, RunningSandbox>;  // by slot

// The first whose key is greater; nullptr when there is none.
template <typename Map>
auto* NextAfter(Map& map, std::uint32_t key) {
  const auto next = map.upper_bound(key);
  return next == map.end() ? nullptr : &*next;
}

}  // namespace caisson::launcher
