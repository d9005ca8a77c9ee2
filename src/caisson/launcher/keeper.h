#pragma once

#include <sys/types.h>

#include <cstdint>

#include "caisson/base/result.h"
#include "caisson/launcher/slot.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/storage/inventory.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::launcher {

// The launcher's view of the keeper: a process of the same program that makes slots ahead of time and takes them
// back, so that neither costs time when a sandbox starts or ends. It ends, removing every slot it made, when the
// launcher's end of the connection closes. Not thread-safe.
class Keeper {
 public:
  // Forks the keeper. `places`: for what dead launchers left; `engine`: the launcher's connection, which the keeper
  // closes on its side.
  static Result<Keeper> Start(const storage::Places& places, const os::Fd& engine, plan::Expect expect);

  Keeper(Keeper&& other) noexcept;
  Keeper& operator=(Keeper&&) = delete;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  // Closes the connection and waits until the keeper has cleaned up: this process's end would kill it.
  ~Keeper();

  // Asks for one more slot; TakeSlot waits for the oldest one asked for, at most 10 s.
  Status OrderSlot();
  // Errors: those of making it; kUnavailable when the keeper is gone.
  Result<Slot> TakeSlot();
  // Readable when TakeSlot would not wait. Borrowed.
  int connection() const { return connection_.get(); }
  // Gives a slot back whose processes are dead. Does not wait.
  Status ReturnSlot(std::uint32_t block);

 private:
  Keeper(os::Fd connection, storage::UidBlocks blocks, pid_t process)
      : connection_(std::move(connection)), blocks_(std::move(blocks)), process_(process) {}
  os::Fd connection_;
  storage::UidBlocks blocks_;  // never asked: holds the locks as long as either process lives
  pid_t process_;
};

}  // namespace caisson::launcher
