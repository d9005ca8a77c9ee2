#pragma once

#include <poll.h>

#include <optional>
#include <span>
#include <vector>

#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"

namespace caisson::launcher {

// Where a launcher whose sandboxes outlive the engine is found: a listening socket that only root is heard at, as the
// kernel tells of the other end. The next engine comes through it, and folders of the host are left there by whoever
// may open them, so that an engine without rights never names a folder itself. Not thread-safe. Source: unix(7).
class Door {
 public:
  explicit Door(os::Fd listener) : listener_(std::move(listener)) {}

  // What to wait for: appended to `entries`.
  void AppendTo(std::vector<pollfd>& entries) const;
  // Serves what is ready of the entries that AppendTo appended. Returns the connection of a new engine.
  std::optional<os::Fd> Serve(std::span<const pollfd> entries);

  // What was left under this ticket, once.
  struct Deposit {
    os::Fd folder;
    os::Fd kept;  // to stay open as long as the sandbox lives; may be invalid
  };
  std::optional<Deposit> Take(const plan::Ticket& ticket);

 private:
  struct Visitor {
    os::Fd connection;
    std::optional<plan::Ticket> ticket;  // once it has left a folder
    Deposit deposit;
  };
  void Accept();
  enum class Next { kStays, kLeaves, kIsEngine };
  Next Hear(Visitor& visitor) const;

  os::Fd listener_;
  std::vector<Visitor> visitors_;
};

}  // namespace caisson::launcher
