#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/deadline.h"
#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/sandbox/command.h"

namespace caisson::backend {
class Instance;
}

namespace caisson::sandbox {

class ChangeTracker;
class SpooledCommand;

// One running sandbox. Thread-safe: commands may be started and waited for from several threads.
// Destroying the object destroys the sandbox: every process in it is dead when the destructor returns.
class Sandbox {
 public:
  // `origin`: what its folders were made from, by path.
  struct Origin {
    std::string image_directory;
    std::string workspace_directory;  // of a copy
    os::Fd workspace_copy;            // its lock, when it is a copy made for this sandbox
  };
  Sandbox(std::unique_ptr<backend::Instance> instance, SandboxId id, Origin origin, int spool_directory);
  enum class State { kRuns, kIsFrozen };
  // One that another engine made.
  static Result<std::unique_ptr<Sandbox>> TakeOver(std::unique_ptr<backend::Instance> instance, SandboxId id,
                                                   int spool_directory, State state);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const SandboxId& id() const { return id_; }

  // Whether a command can be asked for so. Errors: kInvalidArgument, as Start gives them.
  static Status Check(const CommandSpec& spec);

  // Starts a command and returns when its program runs, or a Command whose outcome is already FailedToStart.
  // Errors: kInvalidArgument (empty or too large argv or environment), kUnavailable (the sandbox ended).
  Result<Command> Start(const CommandSpec& spec);

  // The same for a command that stays: its output goes to files named after `id` in the spool folder, its time-out and
  // its end are kept with the launcher. `input`: whether its input stays open; otherwise it is `stdin_bytes`, at most
  // kMaxFirstInput. Errors: as of Start. When the program could not be
  // started the result comes at once, in `failed`.
  enum class Input { kOnlyFirst, kOpen };
  struct Spooled {
    std::unique_ptr<SpooledCommand> command;
    std::optional<CommandResult> failed;
  };
  Result<Spooled> StartSpooled(const CommandSpec& spec, const std::string& id, Input input,
                               std::string_view stdin_bytes, OnCommandEnd on_end);
  // Of a sandbox that was taken over: the commands that were running then, once.
  struct Survivor {
    std::string id;
    std::unique_ptr<SpooledCommand> command;
  };
  using OnEndOf = std::function<OnCommandEnd(const std::string& id)>;
  Result<std::vector<Survivor>> TakeCommands(Bytes kept_output, const OnEndOf& on_end_of);

  // Everything that differs in its files from what it was made from.
  Result<plan::ChangeList> Changes();

  // Stops every process where it is, or lets them go on. Time-outs are the caller's to stop (SpooledCommand::Pause).
  // Errors: kDeadlineExceeded.
  Status Freeze(const Deadline& deadline);
  Status Thaw(const Deadline& deadline);
  bool is_frozen() const { return is_frozen_; }
  // Readable once its first process has ended. Borrowed.
  int ended_fd() const;
  // Kills every process at once, from any thread and in the middle of anything. Destroy is still to come.
  void KillAll() const;
  // Lets go of it without ending it, for the next engine. Nothing else may be called then.
  void Leave();

  // Its writable layer stays when it is destroyed, to be looked at by KeptSandbox. Call before
  // GiveUpPrivileges: root reads again what is noted here. Errors: kUnsupported when the layer is in memory;
  // kPermissionDenied after GiveUpPrivileges.
  Status Keep();

  // Its files stay when it ends, whatever ends it, until Sandboxes::Discard, and SandboxSpec::files gives them to it
  // again; all that is in them now is on the disk when this returns. After KillAll too. Errors: kUnsupported when they
  // are in memory.
  Status KeepFiles();

  // Ends every process in the sandbox and removes its files, unless they are kept. Idempotent. At most 5 s.
  Status Destroy();

  // For Files: the operations behind it run inside the sandbox under the command's confinement.
  backend::Instance& instance() { return *instance_; }
  ChangeTracker& changes() { return *changes_; }

 private:
  std::unique_ptr<Command::State> NewState(const CommandSpec& spec) const;
  // Says hello to a guest that another engine made, and ends what it runs that nobody knows.
  Status Greet();

  std::unique_ptr<backend::Instance> instance_;
  std::unique_ptr<ChangeTracker> changes_;
  SandboxId id_;
  Origin origin_;
  int spool_directory_;
  std::atomic<bool> is_frozen_ = false;
  std::vector<std::uint64_t> known_commands_;  // by the guest's numbers, of one that was taken over
  bool was_greeted_ = true;                    // false: taken over, and its guest has not been spoken to yet
};

inline constexpr std::size_t kMaxFirstInput = 1U << 20U;

}  // namespace caisson::sandbox
