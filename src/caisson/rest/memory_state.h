#pragma once

#include "caisson/rest/memory_service.h"

namespace caisson::rest {

// What a MemoryService holds, and its followers keep.

struct MemoryService::Command {
  service::CommandInfo info;
  std::string out[2];
  std::uint64_t kept_from[2] = {0, 0};
  std::string input;
  bool input_open = false;
  sandbox::Outcome outcome;
  std::optional<sandbox::DecisionNote> decision = {};
  std::vector<std::function<void()>> ended;
  std::map<const void*, std::function<void()>> readers;
};

struct MemoryService::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, service::SandboxInfo> sandboxes;  // by id
  std::vector<std::shared_ptr<Command>> commands;
  std::map<std::string, std::string> files;
  std::deque<service::Event> events;
  std::map<const void*, std::function<void()>> listeners;
  std::string held_name;
  std::size_t held = 0;
  std::size_t cancels = 0;
  std::size_t followers = 0;
  std::uint64_t taken = 0;
  std::size_t calls = 0;
  std::string caller;
  std::string not_ready;
  std::optional<Error> create_error;
  service::PolicyInfo policy;
};

}  // namespace caisson::rest
