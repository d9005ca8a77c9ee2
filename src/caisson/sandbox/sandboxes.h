#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/plan/limits.h"
#include "caisson/sandbox/sandbox.h"
#include "caisson/storage/folder_copy.h"

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

// Whether the sandbox may outlive its engine's interest in the host's folders: then a workspace to copy is really
// copied, since what an overlay shows is undefined once somebody edits the folder under it.
enum class Stays { kNo, kYes };

// Everything that decides what a new sandbox is. Not set: the built-in image `host`, no workspace folder.
struct SandboxSpec {
  SandboxSpec();
  SandboxSpec(SandboxSpec&&) noexcept;
  SandboxSpec& operator=(SandboxSpec&&) noexcept;
  SandboxSpec(const SandboxSpec&) = delete;
  SandboxSpec& operator=(const SandboxSpec&) = delete;
  ~SandboxSpec();

  plan::Limits limits;
  plan::Storage storage = plan::Storage::kTmpfs;
  std::optional<os::Fd> image;  // root directory of an image; absent: `host`
  std::optional<Workspace> workspace;
  Stays stays = Stays::kNo;
  // In place of folders, when the launcher outlives its engine.
  std::optional<plan::Ticket> image_ticket;
  std::optional<plan::Ticket> workspace_ticket;
  plan::WorkspaceMode workspace_ticket_mode = plan::WorkspaceMode::kNone;
  // kKept: the files it had before, with the copy of a workspace when that is the mode, but without a folder or ticket.
  plan::Files files = plan::Files::kNew;
  plan::Execution execution = plan::Execution::kAnywhere;
  // Told how far the copy is, about ten times a second; false cancels, and Create fails with kConflict. May be empty.
  std::function<bool(const storage::CopyProgress&)> copy_progress;
  // Done while its first process starts; an error ends the sandbox, and is the one that Create fails with. May be
  // empty.
  std::function<Status()> meanwhile;
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

  // The folder of the daemon's database, made when it is not there; the engine's user alone may enter it. Call as root.
  static Result<os::Fd> OpenStateFolder(const EngineOptions& options);
  // Takes over the launcher of these folders that outlived its engine, or starts one that will
  // (plan::Expect::kEngines), whose sandboxes are made from no folder of the host but those that are deposited.
  // Otherwise as Start.
  static Result<std::unique_ptr<Sandboxes>> StartOrTakeOver(EngineOptions options);
  // The sandboxes that were there, once, after GiveUpPrivileges. One that cannot be taken over has an error in its
  // place.
  struct Survivor {
    SandboxId id;
    Result<std::unique_ptr<Sandbox>> sandbox;
  };
  Result<std::vector<Survivor>> TakeSurvivors();
  // Hangs up when the launcher has ended, and every sandbox with it. Borrowed.
  int launcher_fd() const;
  // The folder of the spooled output of commands. Borrowed.
  int spool_directory() const { return spool_directory_.get(); }

  // Gives up root and every capability for good (os::BecomeEngineUser). The launcher then takes no folder of the host
  // from this process any more: sandboxes with an image or workspace folder are made before. Call from the only thread,
  // and before any command runs.
  Status GiveUpPrivileges();

  // Blocks until the guest answers, at most 10 s. On error nothing is left behind.
  // Errors: kUnsupported (a protection cannot be set up), kPermissionDenied (a host folder after GiveUpPrivileges),
  // kResourceExhausted (no uid range left, no room for a copy of the workspace), kUnavailable. A sandbox that stays
  // with a copy of its workspace is made before GiveUpPrivileges.
  Result<std::unique_ptr<Sandbox>> Create(SandboxSpec spec);
  // Of a given id, which nothing else has. With files that were kept: kNotFound when they are gone, kConflict while
  // somebody uses them.
  Result<std::unique_ptr<Sandbox>> Create(SandboxSpec spec, SandboxId id);
  // Whether the files of a sandbox that has ended are kept.
  Result<bool> HasKept(const SandboxId& id, plan::Storage storage);
  // Removes them. Errors: kConflict while somebody uses them. None there are is no error.
  Status Discard(const SandboxId& id, plan::Storage storage);

 private:
  Sandboxes(std::unique_ptr<backend::LauncherLink> link, std::string data_directory, os::Fd data, os::Fd spool);
  Status CopyWorkspace(const SandboxId& id, SandboxSpec& spec, Sandbox::Origin& origin) const;

  std::unique_ptr<backend::LauncherLink> link_;
  std::string data_directory_;
  os::Fd data_;
  os::Fd spool_directory_;
};

}  // namespace caisson::sandbox
