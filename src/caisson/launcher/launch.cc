#include "caisson/launcher/launch.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "caisson/base/deadline.h"
#include "caisson/base/weakened.h"
#include "caisson/guest/guest.h"
#include "caisson/launcher/launch_child.h"
#include "caisson/launcher/root_mounts.h"
#include "caisson/os/clone.h"
#include "caisson/os/namespace.h"
#include "caisson/os/program_index.h"
#include "caisson/os/socket.h"
#include "caisson/plan/limits.h"
#include "caisson/storage/mapped_folder.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::launcher {
namespace {

using storage::UidBlocks;

using plan::Step;

// /dev/shm: at most this, and an eighth of the memory limit.
constexpr std::uint64_t kMaxShmBytes = 64U << 20U;
constexpr const char* kShmInodes = "16384";
constexpr std::chrono::seconds kEndPatience{5};
constexpr std::size_t kGuestStackSize = 8U << 20U;
constexpr std::size_t kGuardSize = 4096;

StepError At(Step step, const Error& error) {
  return {step, error.errno_value() == 0 ? EIO : error.errno_value(), error.message()};
}

std::optional<StepError> SetLimits(const plan::LaunchPlan& plan, const Slot& slot) {
  Status memory;
  Status cpu;
  Status pids;
  if (!Weakened("memory_limit")) memory = slot.sandbox.LimitMemory({plan.memory_bytes});
  if (!Weakened("cpu_limit")) cpu = slot.sandbox.LimitCpu({plan.milli_cpus});
  if (!Weakened("process_limit")) pids = slot.sandbox.LimitPids(plan.pids);
  for (const Status& status : {memory, cpu, pids}) {
    if (!status) return At(Step::kCgroup, status.error());
  }
  return std::nullopt;
}

static_assert(std::size(os::kProgramFolders) <= kMaxFolders);

bool IsNoExec(const plan::LaunchPlan& plan) {
  return !Weakened("noexec") && plan.execution == plan::Execution::kProgramFolders;
}

// The root becomes noexec. The program folders that an image of its own has in it are mounted over themselves as they
// were.
Status ForbidExecution(const plan::LaunchPlan& plan, Mounts& mounts) {
  if (plan.image == plan::Image::kDirectory) {
    // Before Linux 6.15 only attached mounts can be copied in part.
    CAISSON_CHECK_OK(os::Attach(mounts.root, kLowerPoint));
    for (const char* name : os::kProgramFolders) {
      const std::string path = std::string(kLowerPoint) + "/" + name;
      struct stat info{};
      if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
      CAISSON_TRY(os::DetachedMount folder, os::CloneTree(AT_FDCWD, path.c_str()));
      mounts.folders.push_back({name, std::move(folder)});
    }
    CAISSON_TRY(mounts.root, os::CloneTree(AT_FDCWD, kLowerPoint));
  }
  return os::AddMountFlags(mounts.root, MOUNT_ATTR_NOEXEC);
}

std::optional<StepError> MakeWorkspace(const HostTrees& trees, const plan::LaunchPlan& plan, const os::Fd& folder,
                                       OverlayMaker& layer, std::uint32_t first_id, Mounts& mounts) {
  if (plan.workspace == plan::WorkspaceMode::kNone) return std::nullopt;
  auto tree = trees.CloneHostFolder(folder);
  if (!tree) return At(Step::kWorkspaceIdMap, tree.error());
  if (const Status mapped = storage::MapWorkspace(*tree, first_id); !mapped) {
    return At(Step::kWorkspaceIdMap, mapped.error());
  }
  if (plan.workspace == plan::WorkspaceMode::kReadOnly) {
    if (const Status status = os::AddMountFlags(*tree, MOUNT_ATTR_RDONLY); !status) {
      return At(Step::kWorkspace, status.error());
    }
  }
  if (plan.workspace == plan::WorkspaceMode::kCopy) {
    auto overlay = layer.Overlay(*tree, "workspace", first_id + plan::kAgentId);
    if (!overlay) return At(Step::kWorkspace, overlay.error());
    mounts.workspace = *std::move(overlay);
  } else {
    mounts.workspace = *std::move(tree);
  }
  if (!IsNoExec(plan)) return std::nullopt;
  const Status status = os::AddMountFlags(mounts.workspace, MOUNT_ATTR_NOEXEC);
  return status ? std::nullopt : std::optional(At(Step::kWorkspace, status.error()));
}

std::optional<StepError> WriteIdMaps(pid_t pid, std::uint32_t first_id) {
  if (Weakened("user_namespace")) return std::nullopt;
  std::vector<os::IdRange> ids = {{0, first_id, UidBlocks::kOwnIds}};
  if (Weakened("id_map")) ids.push_back({UidBlocks::kOwnIds, 0, 1});  // the host's root
  const std::string map = os::FormatIdMap(ids);
  for (const char* name : {"uid_map", "gid_map"}) {
    const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
    const os::Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid()) return StepError{Step::kIdMaps, errno, "cannot open an id map"};
    if (const Status status = os::WriteAll(file.get(), map); !status) return At(Step::kIdMaps, status.error());
  }
  return std::nullopt;
}

struct Pipe {
  os::Fd read;
  os::Fd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Fail(Error::FromErrno(errno, "cannot make a pipe"));
  return Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
}

struct Child {
  pid_t pid = -1;
  os::PidFd pidfd;
};

// What the stand-in is told, and what it answers.
struct Birth {
  const Slot& slot;
  const ChildPlan& plan;
  pid_t pid = -1;
  int pidfd = -1;
  int error = 0;  // errno
};

constexpr std::uint64_t kNewNamespaces =
    Protected("user_namespace", CLONE_NEWUSER) | Protected("mount_namespace", CLONE_NEWNS) |
    Protected("pid_namespace", CLONE_NEWPID) | Protected("ipc_namespace", CLONE_NEWIPC) |
    Protected("uts_namespace", CLONE_NEWUTS);

// Runs in a process that shares the launcher's memory and descriptors and is in the guest's cgroup. It enters the
// sandbox's network and cgroup namespaces and starts the guest there, as a child of the launcher. The guest has no
// rights over the network namespace, since that belongs to the host's root.
void RunStandIn(void* argument) {
  Birth& birth = *static_cast<Birth*>(argument);
  if ((!Weakened("network_namespace") && setns(birth.slot.network_namespace.get(), CLONE_NEWNET) != 0) ||
      (!Weakened("cgroup_namespace") && setns(birth.slot.cgroup_namespace.get(), CLONE_NEWCGROUP) != 0)) {
    birth.error = errno;
    _exit(1);
  }
  clone_args args{};
  args.flags = CLONE_PARENT | CLONE_PIDFD | kNewNamespaces;
  args.pidfd = reinterpret_cast<std::uint64_t>(&birth.pidfd);
  const pid_t pid = static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof args));
  if (pid == 0) {
    BuildSandbox(birth.plan);
    _exit(guest::RunGuest(os::Fd(3)));
  }
  birth.pid = pid;
  if (pid < 0) birth.error = errno;
  _exit(0);
}

// Where the stand-in runs, and then the guest on its copy: as large as a first thread's, with a page below that faults.
Result<std::uint64_t> GuestStack() {
  static void* const stack = mmap(nullptr, kGuestStackSize, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, kGuardSize, PROT_NONE) != 0) {
    return Fail(Error::FromErrno(ENOMEM, "no memory for the guest's stack"));
  }
  return reinterpret_cast<std::uint64_t>(stack);
}

// In two steps, since cgroup2 with the option nsdelegate starts a process in a cgroup only for one that sees both its
// own and the new cgroup from its cgroup namespace: the launcher sees both from the host's, the stand-in is in the
// guest's already.
Result<Child> Clone(const Slot& slot, const ChildPlan& child_plan) {
  Birth birth{slot, child_plan};
  clone_args args{};
  args.flags = CLONE_FILES | CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;  // the guest's too, by CLONE_PARENT
  args.cgroup = static_cast<std::uint64_t>(slot.guest.unified());
  CAISSON_TRY(args.stack, GuestStack());
  args.stack_size = kGuestStackSize;
  const pid_t stand_in = os::CloneSharingMemory(args, RunStandIn, &birth);
  if (stand_in < 0) return Fail(Error::FromErrno(errno, "cannot clone into the cgroup of a sandbox"));
  while (waitpid(stand_in, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (birth.error != 0) return Fail(Error::FromErrno(birth.error, "cannot clone into new namespaces"));
  if (birth.pid < 0) return Fail(Error(Code::kInternal, "the process that starts a guest died"));
  return Child{birth.pid, os::PidFd(os::Fd(birth.pidfd))};
}

BuildOrder MakeOrder(const plan::LaunchPlan& plan, const Mounts& mounts) {
  BuildOrder order;
  order.has_workspace = mounts.workspace.valid() ? 1 : 0;
  for (const HostTrees::ProgramFolder& folder : mounts.folders) {
    if (order.folder_count == kMaxFolders) break;
    folder.name.copy(order.folders[order.folder_count++], sizeof order.folders[0] - 1);
  }
  order.shm_is_noexec = IsNoExec(plan) ? 1 : 0;
  std::to_string(std::min(kMaxShmBytes, plan.memory_bytes / 8)).copy(order.shm_size, sizeof order.shm_size - 1);
  std::string_view(kShmInodes).copy(order.shm_inodes, sizeof order.shm_inodes - 1);
  return order;
}

Status SendOrder(const os::Fd& orders, const BuildOrder& order, const Mounts& mounts, const os::Fd& control) {
  std::vector<int> fds = {control.get(), mounts.root.get()};
  if (mounts.workspace.valid()) fds.push_back(mounts.workspace.get());
  for (std::uint32_t i = 0; i < order.folder_count; ++i) fds.push_back(mounts.folders[i].mount.get());
  return os::SendWithFds(orders.get(), {reinterpret_cast<const char*>(&order), sizeof order}, fds);
}

}  // namespace

void EndFirstProcess(const os::PidFd& process) {
  (void)process.Signal(SIGKILL);
  if (process.Ended(Deadline::In(kEndPatience))) process.Reap();
}

Embryo::~Embryo() {
  if (process_.valid()) EndFirstProcess(process_);
}

tl::expected<Embryo, StepError> Launch::Prepare(Slot& slot) const {
  const auto fail = [](Step step, const Error& error) { return tl::unexpected(At(step, error)); };
  auto orders = os::SocketPair(os::SocketKind::kPacket);
  auto report = MakePipe();
  auto tasks = slot.guest.OpenTasks();
  auto devices = trees_.CloneDevices();
  if (!orders || !report) return fail(Step::kClone, !orders ? orders.error() : report.error());
  if (!tasks) return fail(Step::kCgroup, tasks.error());
  if (!devices) return fail(Step::kMountDev, devices.error());

  ChildPlan child_plan;
  child_plan.orders = orders->second.get();
  child_plan.report = report->write.get();
  child_plan.devices = devices->get();
  child_plan.hostname = "sandbox";
  for (std::size_t i = 0; i < tasks->size(); ++i) child_plan.tasks[i] = (*tasks)[i].get();

  Result<Child> child = Clone(slot, child_plan);
  if (!child) return fail(Step::kClone, child.error());
  const std::uint32_t first_id = UidBlocks::FirstId(slot.block);
  Embryo embryo(std::move(slot), std::move(child->pidfd), std::move(orders->first), std::move(report->read));
  auto error = WriteIdMaps(child->pid, first_id);
  if (!error && !os::SendWithFds(embryo.orders().get(), "1", {})) {
    error = StepError{Step::kIdMaps, EPIPE, "cannot let the guest go"};
  }
  if (!error) return embryo;
  slot = embryo.TakeSlot();
  return tl::unexpected(*error);
}

std::string Launch::ImageName(const plan::LaunchPlan& plan, const StorageLink::Layer& layer) const {
  if (plan.files == plan::Files::kKept) return layer.image;
  return plan.image == plan::Image::kHost ? trees_.skeleton() : std::string();
}

tl::expected<Mounts, StepError> Launch::MakeMounts(const plan::LaunchPlan& plan, const Slot& slot,
                                                   const LaunchInputs& inputs, StorageLink::Layer layer) const {
  const auto fail = [](Step step, const Error& error) { return tl::unexpected(At(step, error)); };
  const std::uint32_t first_id = UidBlocks::FirstId(slot.block);
  Mounts mounts;
  const std::string image = ImageName(plan, layer);
  auto lower = plan.image == plan::Image::kHost ? trees_.CloneSkeleton(image, slot.user_namespace)
                                                : trees_.CloneHostFolder(inputs.image);
  if (!lower) return fail(Step::kImage, lower.error());
  if (plan.image == plan::Image::kDirectory) {
    if (const Status status = os::MapIds(*lower, slot.user_namespace); !status)
      return fail(Step::kImage, status.error());
  } else {
    auto folders = trees_.CloneProgramFolders(slot.user_namespace);
    if (!folders) return fail(Step::kHostImage, folders.error());
    mounts.folders = *std::move(folders);
  }
  const bool is_kept = plan.files == plan::Files::kKept;
  if (is_kept && layer.first_id != first_id) {
    if (const Status mapped = storage::MapLayer(layer.mount, layer.first_id, first_id); !mapped) {
      return fail(Step::kWritableLayer, mapped.error());
    }
  }
  OverlayMaker maker(std::move(layer.mount), is_kept ? OverlayMaker::Upper::kKept : OverlayMaker::Upper::kNew);
  auto root = maker.Overlay(*lower, "root", first_id);
  if (!root) return fail(Step::kRootOverlay, root.error());
  mounts.root = *std::move(root);
  if (IsNoExec(plan)) {
    if (const Status done = ForbidExecution(plan, mounts); !done) return fail(Step::kRootOverlay, done.error());
  }
  if (auto error = MakeWorkspace(trees_, plan, inputs.workspace, maker, first_id, mounts)) {
    return tl::unexpected(*error);
  }
  if (const Status ordered = storage_.OrderTracking(slot.block, image, inputs.changes, maker.folders(), inputs.copy);
      !ordered) {
    return fail(Step::kWritableLayer, ordered.error());
  }
  return mounts;
}

std::optional<StepError> Launch::Begin(const plan::LaunchPlan& plan, const Embryo& embryo, LaunchInputs& inputs) const {
  const Slot& slot = embryo.slot();
  // Made while the limits are set.
  if (const Status ordered = storage_.OrderLayer(slot.block, plan, UidBlocks::FirstId(slot.block)); !ordered) {
    return At(Step::kWritableLayer, ordered.error());
  }
  auto limits_error = SetLimits(plan, slot);
  auto layer = storage_.TakeLayer();
  if (limits_error) return limits_error;
  const bool is_kept = plan.files == plan::Files::kKept;
  if (!layer) return At(is_kept ? Step::kKeptFiles : Step::kWritableLayer, layer.error());
  if (is_kept) {
    if (layer->workspace.valid() != (plan.workspace == plan::WorkspaceMode::kCopy)) {
      return StepError{Step::kKeptFiles, EINVAL, "the sandbox was kept with another workspace"};
    }
    inputs.workspace = std::move(layer->workspace);
    inputs.copy = std::move(layer->copy);
  }
  const auto mounts = MakeMounts(plan, slot, inputs, *std::move(layer));
  if (!mounts) return mounts.error();
  const Status sent = SendOrder(embryo.orders(), MakeOrder(plan, *mounts), *mounts, inputs.control);
  // An embryo that has died says why in its report; one that lives waits for the order still.
  const bool is_told = sent || sent.error().code() == Code::kUnavailable;
  const Status tracked = storage_.AwaitTracked();
  if (!is_told) return At(Step::kStartGuest, sent.error());
  if (!tracked) return At(Step::kWritableLayer, tracked.error());
  return std::nullopt;
}

// The report is a pipe that closes when the root is built.
std::optional<StepError> Launch::ReadReport(const Embryo& embryo) {
  ChildFailure failure{};
  ssize_t n = 0;
  do {
    n = read(embryo.report().get(), &failure, sizeof failure);
  } while (n < 0 && errno == EINTR);
  if (n == 0) return std::nullopt;
  if (n != sizeof failure) return StepError{Step::kStartGuest, EIO, {}};
  return StepError{failure.step, failure.error, {}};
}

}  // namespace caisson::launcher
