#pragma once

#include <cstdint>
#include <type_traits>

#include "caisson/plan/launch_plan.h"

namespace caisson::plan {

// The values that cross from the launcher and from the engine to the storage process. Flat and fixed in size: it parses
// nothing, it checks ranges. Descriptors travel beside a message, in the order its comment gives.

enum class StorageVerb : std::uint32_t { kMake, kTrack, kRemove, kSeal, kConnect, kFindKept, kDiscard };

// One request of the launcher's.
// kMake: a writable layer for the sandbox of `slot`. Reply: [its folder, as a mount that is attached nowhere: overlayfs
// takes only folders of mounts that the caller has attached itself]; of one that was kept, when it has a copy of a
// workspace, also [that copy] [its lock].
// kTrack: from here on the layer's changes are told. Descriptors: [connection of the engine] and for each overlay
// [upper folder] [lower folder], the root's first, then the workspace's, and perhaps [the locked folder of a copy of
// its workspace], which shares the layer's fate. Replied to when all that is changed from now on will be noticed.
// kRemove: the sandbox is dead. What is kept stays. No reply.
// kSeal: the engine has given up its rights, and says no more what is written with a layer (LayerVerb::kKeep): root
// reads that again. No reply.
// kConnect: another engine asks from now on. Descriptor: [connection of that engine]. No reply.
// kFindKept: whether a layer of this name is kept for its sandbox, in use or not; ENOENT. kDiscard: it is no longer
// kept, and removed; ENOENT, or EBUSY while somebody uses it.
struct StorageRequest {
  StorageVerb verb = StorageVerb::kMake;
  std::uint32_t slot = 0;
  Storage storage = Storage::kTmpfs;  // of kMake, kFindKept and kDiscard, as the name
  Files files = Files::kNew;          // of kMake, as what follows
  std::uint32_t first_id = 0;         // of the block of ids: who owns what the sandbox's root owns
  std::uint64_t bytes = 0;
  char name[32] = {};   // a SandboxId, zero terminated
  char image[64] = {};  // of kTrack: the image's name below `images`, zero terminated, empty when it is elsewhere
};

struct StorageReply {
  std::int32_t error = 0;      // errno
  std::uint32_t first_id = 0;  // of kMake of a kept layer: the owner of what its root owns, on disk
  char message[504] = {};      // of a failure, zero terminated; of kMake of a kept layer the image's name, as in kTrack
};

// One request of the engine's about its layer, on the connection that kTrack named; a frame (os/socket.h) each way.
// kReport: what changed since the last report, as proto::LayerReply; scope says whether every file that was open for
// writing since is closed, so that the kernel has named it. kOpen: the two sides of the file with this index in the
// last report. Descriptors of the answer: [before] [after], as the flags of the reply say. kKeep: the layer outlives
// its sandbox; behind the request comes the record to keep with it (storage/kept_layer.h). kReportAll: everything that
// differs from what the sandbox was made from; nothing else is forgotten or remembered by it. kStay: the layer outlives
// its sandbox, and can be given to it again; all that is in it is on the disk when the answer comes.
enum class LayerVerb : std::uint32_t { kReport, kOpen, kKeep, kReportAll, kStay };

enum class ReportScope : std::uint32_t { kClosedFiles, kEverything };

// Whether the report says that there is no room left, which may cost a write.
enum class CheckRoom : std::uint32_t { kNo, kYes };

struct LayerRequest {
  LayerVerb verb = LayerVerb::kReport;
  ReportScope scope = ReportScope::kEverything;  // of kReport
  CheckRoom check_room = CheckRoom::kNo;         // of kReport
  std::uint32_t index = 0;                       // of kOpen
};

static_assert(std::is_trivially_copyable_v<StorageRequest> && std::is_trivially_copyable_v<StorageReply> &&
              std::is_trivially_copyable_v<LayerRequest>);

}  // namespace caisson::plan
