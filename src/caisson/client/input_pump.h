#pragma once

#include <optional>
#include <string>
#include <thread>

#include "caisson/base/result.h"
#include "caisson/client/endpoint.h"
#include "caisson/os/fd.h"

namespace caisson::client {

// Sends what comes from a descriptor to a command's input, from a thread of its own, until one of them ends; the end of
// the descriptor ends the command's input. Neither copied nor moved.
class InputPump {
 public:
  InputPump() = default;
  InputPump(const InputPump&) = delete;
  InputPump& operator=(const InputPump&) = delete;
  // Stops; what was read and not sent yet is lost. Waits at most for the request that is under way.
  ~InputPump();

  // `fd` is borrowed, and read by nobody else. Signals that the caller wants to see must be blocked already.
  // Errors: kResourceExhausted.
  Status Start(const Endpoint& endpoint, std::string sandbox, std::string command, int fd);

  // Stops, and says why the input did not get through; nothing when it did, or when the command wanted no more of it.
  std::optional<Error> Stop();

 private:
  void Run(const Endpoint& endpoint, const std::string& sandbox, const std::string& command, int fd);

  os::Fd stop_;  // an eventfd
  std::thread thread_;
  std::optional<Error> failure_;  // of the thread; read when it has ended
};

}  // namespace caisson::client
