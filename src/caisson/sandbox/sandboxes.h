#pragma once

#include <memory>
#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/sandbox/sandbox.h"

namespace caisson::backend {
class LauncherLink;
}

namespace caisson::sandbox {

inline constexpr const char* kDataDirectory = "/var/lib/caisson";
inline constexpr const char* kRuntimeDirectory = "/run/caisson";

// A folder of the host, opened by whoever may open it, and how the sandbox sees it at /home/agent/workspace.
struct Workspace {
  os::Fd directory;
  plan::WorkspaceMode mode = plan::WorkspaceMode::kCopy;
};

// Everything that decides what a new sandbox is. Not set: the built-in image `host`, no workspace folder.
struct SandboxSpec {
  plan::Limits limits;
  plan::Storage storage = plan::Storage::kTmpfs;
  std::optional<os::Fd> image;  // root directory of an image; absent: `host`
  std::optional<Workspace> workspace;
};

struct EngineOptions {
  std::string program_directory;  // holds caisson-launcher
  std::string data_directory = kDataDirectory;
  std::string runtime_directory = kRuntimeDirectory;
  plan::Expect expect = plan::Expect::kManySandboxes;
};

// Makes sandboxes. Owns the launcher, the privileged process that the engine talks to over one socket.
// Thread-safe. Destroying it destroys every sandbox it made.
class Sandboxes {
 public:
  // Starts the launcher. Call as root and before the first thread.
  // Errors: kUnsupported naming the primitive that lacks and its remedy; nothing is left behind.
  static Result<std::unique_ptr<Sandboxes>> Start(const EngineOptions& options);
  ~Sandboxes();
  Sandboxes(const Sandboxes&) = delete;
  Sandboxes& operator=(const Sandboxes&) = delete;

  // Gives up root and every capability for good (os::BecomeEngineUser). The launcher then takes no folder of the host
  // from this process any more: sandboxes with an image or workspace folder are made before. Call from the only thread,
  // and before any command runs.
  Status GiveUpPrivileges();

  // Blocks until the guest answers, at most 10 s. On error nothing is left behind.
  // Errors: kUnsupported (a protection cannot be set up), kPermissionDenied (a host folder after GiveUpPrivileges),
  // kResourceExhausted (no uid range left), kUnavailable.
  Result<std::unique_ptr<Sandbox>> Create(SandboxSpec spec);

 private:
  explicit Sandboxes(std::unique_ptr<backend::LauncherLink> link, os::Fd spool);

  std::unique_ptr<backend::LauncherLink> link_;
  os::Fd spool_directory_;
};

}  // namespace caisson::sandbox
