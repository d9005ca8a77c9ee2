#pragma once

#include <cstdint>
#include <string>

#include "caisson/state/unix_ms.h"

namespace caisson::state {

// Something that happened on the node.
struct EventRecord {
  std::uint64_t number = 0;  // given when it is recorded: one more than the event before, never twice
  UnixMs time = 0;
  std::string type = {};
  std::string sandbox = {};  // id; may be empty
  std::string command = {};  // id; may be empty
  std::string caller = {};
  std::string detail = {};
};

}  // namespace caisson::state
