#pragma once

namespace caisson::backend {

// What the new process needs to become the launcher, made before it exists.
struct SpawnPlan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  int fds[4] = {-1, -1, -1, -1};  // become 3 to 6; each is above 6 now. The last may be -1.
};

// Of `plan`, a SpawnPlan: resets the signals, puts the descriptors in place, closes all others and executes. Exits with
// 127 when it cannot.
void RunSpawnChild(void* plan);

}  // namespace caisson::backend
