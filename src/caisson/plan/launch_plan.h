#pragma once

#include <cstdint>
#include <type_traits>

namespace caisson::plan {

// The values that cross from the engine to the launcher. Flat and fixed in size: the launcher parses nothing,
// it checks ranges. Descriptors travel beside a message, in the order its comment gives.

// How many sandboxes the launcher should be ready for: with kManySandboxes it prepares the next one's
// namespaces and cgroups while it has nothing else to do.
enum class Expect : std::uint32_t { kOneSandbox, kManySandboxes };

enum class Image : std::uint32_t { kHost, kDirectory };
// Where the writable layer lies. kTmpfs: in memory, counted and bounded. kDirectory: in the data folder,
// without a byte limit. kBtrfs: in the store, with one.
enum class Storage : std::uint32_t { kTmpfs, kDirectory, kBtrfs };
// What a writable layer may hold. A tmpfs counts as the sandbox's memory: a full disk must come before the memory
// limit.
constexpr std::uint64_t LayerBytes(Storage storage, std::uint64_t disk_bytes, std::uint64_t memory_bytes) {
  const std::uint64_t half = memory_bytes / 2;
  return storage == Storage::kTmpfs && half < disk_bytes ? half : disk_bytes;
}

enum class WorkspaceMode : std::uint32_t { kNone, kCopy, kReadOnly, kReadWrite };

inline constexpr std::uint32_t kLaunchVersion = 1;

struct LaunchPlan {
  Image image;
  Storage storage;
  WorkspaceMode workspace;
  std::uint32_t pids;
  std::uint64_t memory_bytes;
  std::uint64_t disk_bytes;
  std::uint32_t milli_cpus;
  char id[32];  // a SandboxId, zero terminated
};

enum class Verb : std::uint32_t { kCreate, kRotateLeaf, kDestroy, kSeal, kExamineLeaf };

// What a command reads from, as the engine's end of it tells: the inode of a pipe, or the number below /dev/pts of a
// terminal.
enum class InputKind : std::uint32_t { kPipe, kTerminal };
struct CommandInput {
  InputKind kind = InputKind::kPipe;
  std::uint64_t number = 0;
};

// One request. kCreate takes the descriptors [the guest's end of the control socket] [the storage process's end of the
// connection for changes, plan/layer_plan.h] [image directory if kDirectory] [workspace if not kNone].
// kSeal has no reply: from then on kCreate is refused any folder of the host, since the engine has given up the rights
// with which its caller opened them. kDestroy comes when the guest has died, and has no reply: what remains is to clean
// up. kRotateLeaf names a leaf that is no longer used (0: none) and asks for a fresh one.
// kExamineLeaf asks what the processes of a leaf do: whether one of them waits for `input`.
struct LaunchRequest {
  std::uint32_t version = kLaunchVersion;
  Verb verb = Verb::kCreate;
  std::uint64_t number = 0;        // counts the requests of a connection, from 1
  std::uint32_t slot = 0;          // of kRotateLeaf, kDestroy and kExamineLeaf
  std::uint32_t leaf = 0;          // of kExamineLeaf
  CommandInput input = {};         // of kExamineLeaf
  std::uint32_t retired_leaf = 0;  // of kRotateLeaf
  LaunchPlan plan = {};            // of kCreate
};

// The steps that can fail, in the order they happen; the reply names one with its errno.
enum class Step : std::uint32_t {
  kNone,
  kRequest,
  kSlot,
  kUidRange,
  kUserNamespace,
  kNetworkNamespace,
  kCgroup,
  kHostImage,
  kImage,
  kWritableLayer,
  kRootOverlay,
  kWorkspace,
  kWorkspaceIdMap,
  kClone,
  kIdMaps,
  kJoinCgroup,
  kMountRoot,
  kMountUsr,
  kMountDev,
  kMountDevpts,
  kMountShm,
  kMountProc,
  kSysctl,
  kMaskProc,
  kMountWorkspace,
  kPivotRoot,
  kHostname,
  kStartGuest,
  kLeaf,
};

// Descriptors of a leaf, in this order: for the engine kill (cgroup.kill), state (cgroup.events), cpu (cpu.stat),
// memory peak and memory events, the events of the leaf's limit of processes and of the sandbox's; for the guest the
// cgroup2 directory, then on cgroup v1 the `tasks` files of memory, cpu and pids.
inline constexpr int kLeafEngineFds = 7;
inline constexpr int kLeafGuestFdsV1 = 4;

// One reply. kCreate: [pidfd of the guest] [cgroup.kill of the sandbox], then the first leaf.
// kRotateLeaf: a leaf.
struct LaunchReply {
  std::uint32_t version = kLaunchVersion;
  Step failed_step = Step::kNone;
  std::int32_t error = 0;  // errno of the failed step
  std::uint32_t slot = 0;
  // Of the request; 0 in a failure that belongs to whatever was asked. The engine passes over the reply to a request
  // for which it waits no longer.
  std::uint64_t number = 0;
  std::uint32_t leaf = 0;
  std::uint32_t leaf_guest_fds = 0;
  std::uint32_t waits_for_input = 0;  // of kExamineLeaf: 1 when a process does
  char message[508] = {};             // of a failure, zero terminated
};

// No padding, through which bytes of the launcher's memory would reach the engine.
static_assert(std::has_unique_object_representations_v<LaunchReply>);
static_assert(std::is_trivially_copyable_v<LaunchRequest> && std::is_trivially_copyable_v<LaunchReply>);

}  // namespace caisson::plan
