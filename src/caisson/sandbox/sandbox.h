#pragma once

#include <memory>
#include <string>

#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/sandbox/command.h"

namespace caisson::backend {
class Instance;
}

namespace caisson::sandbox {

class ChangeTracker;

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
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const SandboxId& id() const { return id_; }

  // Starts a command and returns when its program runs, or a Command whose outcome is already FailedToStart.
  // Errors: kInvalidArgument (empty or too large argv or environment), kUnavailable (the sandbox ended).
  Result<Command> Start(const CommandSpec& spec);

  // Its writable layer stays when it is destroyed, to be looked at by KeptSandbox. Call before
  // GiveUpPrivileges: root reads again what is noted here. Errors: kUnsupported when the layer is in memory;
  // kPermissionDenied after GiveUpPrivileges.
  Status Keep();

  // Ends every process in the sandbox and removes its writable layer. Idempotent. At most 5 s.
  Status Destroy();

  // For Files: the operations behind it run inside the sandbox under the command's confinement.
  backend::Instance& instance() { return *instance_; }
  ChangeTracker& changes() { return *changes_; }

 private:
  std::unique_ptr<backend::Instance> instance_;
  std::unique_ptr<ChangeTracker> changes_;
  SandboxId id_;
  Origin origin_;
  int spool_directory_;
};

}  // namespace caisson::sandbox
