#include "caisson/backend/launch_error.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>

namespace caisson::backend {
namespace {

using plan::Step;

struct Explanation {
  const char* primitive;
  const char* remedy;
};

constexpr const char* kDoctor = "see what this host lacks: caisson doctor";
constexpr const char* kUserNamespaces = "allow user namespaces: sysctl user.max_user_namespaces=65536";
constexpr const char* kCgroups = "mount the cgroup file systems read-write with the controllers memory, cpu and pids";
constexpr const char* kIdMap = "use a folder on a file system with id-mapped mounts, such as ext4, xfs or btrfs";
constexpr const char* kOverlay =
    "load the overlay module and keep the data folder on a file system that overlayfs can use";

Explanation Explain(Step step) {
  switch (step) {
    case Step::kUserNamespace:
    case Step::kClone:
    case Step::kIdMaps:
      return {"user namespaces", kUserNamespaces};
    case Step::kNetworkNamespace:
      return {"network namespaces", "allow network namespaces: sysctl user.max_net_namespaces=65536"};
    case Step::kCgroup:
    case Step::kJoinCgroup:
    case Step::kLeaf:
      return {"cgroups", kCgroups};
    case Step::kSlot:
      return {"a slot of the host", kDoctor};
    case Step::kUidRange:
      return {"a free block of user ids", "end sandboxes that are no longer needed"};
    case Step::kImage:
      return {"the image folder", kIdMap};
    case Step::kHostImage:
      return {"the built-in image", kIdMap};
    case Step::kWritableLayer:
      return {"the writable layer", "choose another --storage, or see what this host lacks: caisson doctor"};
    case Step::kRootOverlay:
      return {"overlay file systems", kOverlay};
    case Step::kWorkspace:
      return {"the workspace", kOverlay};
    case Step::kWorkspaceIdMap:
      return {"id-mapped mounts of the workspace folder", kIdMap};
    case Step::kMountProc:
      return {"a fresh proc file system", "run where /proc is mounted whole, not masked by a container"};
    case Step::kMountWorkspace:
    case Step::kMountUsr:
    case Step::kMountDev:
    case Step::kMountDevpts:
    case Step::kMountShm:
      return {"a mount point of the image", "remove symbolic links in the image at dev, proc, home and the workspace"};
    case Step::kMountRoot:
    case Step::kPivotRoot:
      return {"a root of its own", kDoctor};
    case Step::kSysctl:
      return {"a limit on user namespaces", kDoctor};
    case Step::kMaskProc:
      return {"the masks of the proc file system", kDoctor};
    case Step::kHostname:
      return {"a host name of its own", kDoctor};
    case Step::kStartGuest:
      return {"the start of the guest", kDoctor};
    case Step::kRequest:
      return {"a request", "make sandboxes with a host folder before giving up root, and with programs of one version"};
    case Step::kKeptFiles:
      return {"taking the files that were kept of it",
              "see with `caisson df` whether they are there; delete the sandbox if not"};
    case Step::kNone:
      break;
  }
  return {"a step of the launcher", kDoctor};
}

// The launcher says so of a ticket for which nobody has left a folder.
bool IsTicketUnknown(const plan::LaunchReply& reply) {
  return reply.error == ENOKEY && (reply.failed_step == Step::kImage || reply.failed_step == Step::kWorkspace);
}

Code CodeOf(const plan::LaunchReply& reply) {
  constexpr int kShortages[] = {EMFILE, ENFILE, ENOMEM, EAGAIN, ENOSPC, ENOBUFS, ENOLCK};
  if (std::find(std::begin(kShortages), std::end(kShortages), reply.error) != std::end(kShortages)) {
    return Code::kResourceExhausted;
  }
  // A process of Caisson's own has ended, or a disk has failed: nothing that a host could not have.
  if (reply.error == EIO || reply.error == EPIPE) return Code::kInternal;
  if (IsTicketUnknown(reply)) return Code::kNotFound;
  if (reply.failed_step == Step::kKeptFiles && reply.error == ENOENT) return Code::kNotFound;
  if (reply.failed_step == Step::kKeptFiles && reply.error == EBUSY) return Code::kConflict;
  if (reply.failed_step != Step::kRequest) return Code::kUnsupported;
  return reply.error == EPERM ? Code::kPermissionDenied : Code::kInternal;
}

}  // namespace

Error ExplainFailure(const plan::LaunchReply& reply) {
  Explanation explanation = Explain(reply.failed_step);
  if (reply.failed_step == Step::kWritableLayer && reply.error == ENOSPC) {
    explanation.remedy = "free space on the host's disk, lower --disk, or see `caisson df` for what can go";
  }
  const Error system = Error::FromErrno(reply.error, "");
  std::string cause = reply.message[0] == '\0' ? system.cause() : std::string(reply.message) + ": " + system.cause();
  if (IsTicketUnknown(reply)) {
    cause = "no folder was deposited under its ticket";
    explanation.remedy = "deposit the folder again: a ticket is good for one sandbox";
  }
  Error error = Error(CodeOf(reply), std::string("the sandbox cannot be set up: ") + explanation.primitive + " failed")
                    .Because(std::move(cause))
                    .Remedy(explanation.remedy)
                    .Detail("primitive", explanation.primitive)
                    .Detail("step", std::to_string(static_cast<unsigned>(reply.failed_step)));
  return error.code() == Code::kResourceExhausted ? std::move(error).Retryable() : std::move(error);
}

}  // namespace caisson::backend
