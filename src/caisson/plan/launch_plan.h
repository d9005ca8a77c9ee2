#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace caisson::plan {

// The values that cross from the engine to the launcher. Flat and fixed in size: the launcher parses nothing,
// it checks ranges. Descriptors travel beside a message, in the order its comment gives.

// What the launcher should be ready for. From kManySandboxes on it prepares the next sandbox's namespaces and cgroups
// while it has nothing else to do. With kEngines its sandboxes outlive the engine, and the next one takes them over.
enum class Expect : std::uint32_t { kOneSandbox, kManySandboxes, kEngines };

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

// Where the files of a sandbox come from. kNew: its layer is empty. kKept: what was kept under its id (layer_plan.h,
// LayerVerb::kStay), with the copy of its workspace; neither an image nor a workspace of the host's goes with that.
enum class Files : std::uint32_t { kNew, kKept };

// Where programs may lie. kProgramFolders: in those folders of the image alone (os/program_index.h); everything that a
// command can write is mounted noexec.
enum class Execution : std::uint32_t { kAnywhere, kProgramFolders };

enum class WorkspaceMode : std::uint32_t { kNone, kCopy, kReadOnly, kReadWrite };

inline constexpr std::uint32_t kLaunchVersion = 1;

// Names a folder of the host that somebody who may has left with the launcher (Hello::kDeposit): 16 random bytes.
struct Ticket {
  std::uint8_t bytes[16] = {};
  bool operator==(const Ticket&) const = default;
};

struct LaunchPlan {
  Image image;
  Storage storage;
  WorkspaceMode workspace;
  std::uint32_t pids;
  std::uint64_t memory_bytes;
  std::uint64_t disk_bytes;
  std::uint32_t milli_cpus;
  Files files;
  Execution execution;
  char id[32];              // a SandboxId, zero terminated
  Ticket image_ticket;      // with kEngines, in place of a descriptor
  Ticket workspace_ticket;  // the same
};

enum class Verb : std::uint32_t {
  kCreate,
  kRotateLeaf,
  kDestroy,
  kSeal,
  kExamineLeaf,
  kFreeze,
  kThaw,
  kPark,
  kUnpark,
  kNextSandbox,
  kAdopt,
  kNextParked,
  kFindKept,
  kDiscard,
};

// What a command reads from, as the engine's end of it tells: the inode of a pipe, or the number below /dev/pts of a
// terminal.
enum class InputKind : std::uint32_t { kPipe, kTerminal };
struct CommandInput {
  InputKind kind = InputKind::kPipe;
  std::uint64_t number = 0;
};

// What has to be known of a running command to go on with it: who it is, when it began and when its time is over, on
// CLOCK_MONOTONIC.
struct ParkedCommand {
  char id[32] = {};           // zero terminated
  std::uint64_t command = 0;  // the guest's number
  std::uint64_t decided = 0;  // what its engine had decided before it killed it: the engine's own number, 0 for nothing
  std::int64_t start_ns = 0;
  std::int64_t deadline_ns = 0;  // of one whose time stands still: how much of it is left
  std::uint64_t stands_still = 0;
  std::uint64_t staged_stream = 0;  // the one whose bytes go through a stage, 1 stdout and 2 stderr; 0: neither
  // What the leaf had counted before.
  std::uint64_t cpu_us = 0;
  std::uint64_t oom_kills = 0;
  std::uint64_t process_limit_hits = 0;
};

// The first packet on a connection to the launcher's door, in kEngines; only root is heard. kEngine: from now on the
// launcher serves this connection in place of the engine's before. kDeposit: with the descriptor of a folder that a
// sandbox may be made from until this connection closes, and perhaps a second one of what must stay open as long as
// that sandbox lives: the lock of a copy. Answered by a Ticket.
enum class Hello : std::uint32_t { kEngine, kDeposit };
struct DoorRequest {
  std::uint32_t version = 1;
  Hello hello = Hello::kEngine;
};
struct DoorReply {
  std::uint32_t version = 1;
  std::int32_t error = 0;  // errno
  Ticket ticket = {};      // of kDeposit
};

// One request. kCreate takes the descriptors [the guest's end of the control socket] [the storage process's end of the
// connection for changes, plan/layer_plan.h] [image directory if kDirectory] [workspace if not kNone].
// kSeal has no reply: from then on kCreate is refused any folder of the host, since the engine has given up the rights
// with which its caller opened them. kDestroy comes when the guest has died, and has no reply: what remains is to clean
// up. kRotateLeaf names a leaf that is no longer used (0: none) and asks for a fresh one.
// kExamineLeaf asks what the processes of a leaf do: whether one of them waits for `input`.
// kFreeze and kThaw stop every process of a sandbox where it is, and let them go on; the reply says what they do now.
// kPark leaves with the launcher what the next engine needs of the command in `leaf`: `parked` and the descriptors
// [its end] [stdout] [stderr], while its input is open [stdin], and with a stage its two ends: what lies there comes
// before what its stream's pipe holds. Again: in place of those before. kUnpark: it is over. Neither has a reply.
// kNextSandbox names the sandbox with the lowest slot above `slot`. kAdopt, with [the guest's end of a new control
// socket] [the storage process's end of a new connection for changes], gives what kCreate gave, but for the leaf.
// kNextParked gives what was parked for the lowest leaf above `leaf`, and that leaf.
// kFindKept asks whether the files of the sandbox of the plan's id are kept in its storage, and kDiscard removes them.
struct LaunchRequest {
  std::uint32_t version = kLaunchVersion;
  Verb verb = Verb::kCreate;
  std::uint64_t number = 0;        // counts the requests of a connection, from 1
  std::uint32_t slot = 0;          // of all but kCreate and kSeal
  std::uint32_t leaf = 0;          // of kExamineLeaf, kPark, kUnpark and kNextParked
  CommandInput input = {};         // of kExamineLeaf
  std::uint32_t retired_leaf = 0;  // of kRotateLeaf
  LaunchPlan plan = {};            // of kCreate; of kFindKept and kDiscard its id and storage
  ParkedCommand parked = {};       // of kPark
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
  kKeptFiles,
};

// Descriptors of a leaf, in this order: for the engine kill (cgroup.kill), state (cgroup.events), cpu (cpu.stat),
// memory peak and memory events, the events of the leaf's limit of processes and of the sandbox's; for the guest the
// cgroup2 directory, then on cgroup v1 the `tasks` files of memory, cpu and pids.
inline constexpr int kLeafEngineFds = 7;
inline constexpr int kLeafGuestFdsV1 = 4;

// Of kPark: its end, stdout, stderr; stdin while that is open; both ends of a stage.
inline constexpr std::size_t kLeastParkedFds = 3;
inline constexpr std::size_t kStageFds = 2;
inline constexpr std::size_t kMostParkedFds = kLeastParkedFds + 1 + kStageFds;

// One reply. kCreate: [pidfd of the guest] [cgroup.kill of the sandbox], then the first leaf; kAdopt: the same without
// a leaf. kRotateLeaf: a leaf. kNextParked: what was parked, then the leaf.
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
  std::uint32_t waits_for_input = 0;     // of kExamineLeaf: 1 when a process does
  std::uint32_t frozen = 0;              // of kFreeze and kThaw: 1 when no process of it runs
  std::uint32_t parked_fds = 0;          // of kNextParked: as many come before the leaf's
  std::uint32_t is_frozen_by_order = 0;  // of kAdopt: 1 when it was frozen and not thawed since
  ParkedCommand parked = {};             // of kNextParked
  char id[32] = {};                      // of kNextSandbox, kAdopt and kFindKept: a SandboxId; empty: there is none
  char message[512] = {};                // of a failure, zero terminated
};

// No padding, through which bytes of the launcher's memory would reach the engine.
static_assert(std::has_unique_object_representations_v<LaunchReply>);
static_assert(std::is_trivially_copyable_v<LaunchRequest> && std::is_trivially_copyable_v<LaunchReply>);

}  // namespace caisson::plan
