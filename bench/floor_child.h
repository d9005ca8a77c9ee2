#pragma once

namespace caisson::bench {

// What the floor's child needs, compiled by the parent. Paths are absolute in the parent's mount namespace.
struct FloorPlan {
  const char* lower;
  const char* upper;
  const char* work;
  const char* merged;  // an empty directory, the mount point of the overlay
  int go_fd;           // one byte arrives when the id maps are written
};

// The steps of the child; it exits with kFirstFloorStep + step when one fails.
enum class FloorStep : int { kGo, kIds, kOverlay, kAttach, kProc, kPivot, kDetach, kExec };
inline constexpr int kFirstFloorStep = 100;

// Runs in a fresh child of clone3(2) with seven new namespaces: root of the new user namespace, overlay, proc,
// pivot_root(2), exec of /bin/true. Allocates nothing, does not return.
[[noreturn]] void RunFloorChild(const FloorPlan& plan);

}  // namespace caisson::bench
