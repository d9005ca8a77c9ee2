#pragma once

#include <chrono>
#include <optional>

#include "caisson/backend/instance.h"
#include "caisson/sandbox/change_tracker.h"
#include "caisson/sandbox/command.h"

namespace caisson::sandbox {

// What a Command holds. Private to the module.
struct Command::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (span) changes->Abandon(*span);
  }

  backend::Instance* instance = nullptr;  // outlives its commands
  backend::Instance::Started started;
  std::optional<FailedToStart> failed;
  std::chrono::steady_clock::time_point start;
  std::chrono::milliseconds timeout{};
  Bytes kept_output;
  Spool spool = Spool::kDiscard;
  int spool_directory = -1;
  bool is_terminal = false;
  ChangeTracker* changes = nullptr;               // outlives its commands
  std::optional<ChangeSpans::Id> span;            // when its changes are reported
  std::optional<ChangeTracker::Unasked> unasked;  // when they are not
  bool over = false;                              // nothing of it has to be killed any more
};

}  // namespace caisson::sandbox
