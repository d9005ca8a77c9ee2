#include "caisson/launcher/keeper.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "caisson/os/identity.h"
#include "caisson/os/namespace.h"
#include "caisson/os/socket.h"
#include "caisson/os/write_child.h"
#include "caisson/plan/launch_plan.h"
#include "caisson/storage/collection.h"

namespace caisson::launcher {
namespace {

using storage::UidBlocks;

constexpr std::uint32_t kGuestCpuWeight = 1000;

// For removing what dead launchers left, once in a keeper's life: what takes longer is left to the next keeper, or to
// `caisson prune`, since the next sandbox waits for the keeper.
constexpr std::chrono::milliseconds kCollectionTime{200};

struct Request {
  enum class Verb : std::uint32_t { kMake, kRelease };
  Verb verb = Verb::kMake;
  std::uint32_t block = 0;
};

struct Reply {
  std::int32_t error = 0;  // errno
  std::uint32_t block = 0;
  os::CgroupMode mode = os::CgroupMode::kUnified;
  char message[224] = {};
};

// A process in the new cgroup that enters new user and cgroup namespaces, says which number it has in the host's /proc
// and waits to be killed.
[[noreturn]] void HoldNamespaces(int ready, const std::vector<os::Fd>& tasks) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) _exit(1);
  for (const os::Fd& file : tasks) {
    if (os::WriteWhole(file.get(), "0", 1) != 0) _exit(1);
  }
  std::array<char, 16> number{};
  const ssize_t size = readlink("/proc/self", number.data(), number.size());
  if (size <= 0 || unshare(CLONE_NEWCGROUP) != 0) _exit(1);
  if (os::WriteWhole(ready, number.data(), static_cast<std::size_t>(size)) != 0) _exit(1);
  while (true) pause();
}

struct NamespacePair {
  os::Fd user;
  os::Fd cgroup;
};

Status WriteIdMap(const std::string& path, std::uint32_t first_id) {
  const os::Fd map(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!map.valid()) return Fail(Error::FromErrno(errno, "cannot open " + path));
  return os::WriteAll(map.get(), os::FormatIdMap({{0, first_id, UidBlocks::kOwnIds}}));
}

Result<NamespacePair> OpenHeldNamespaces(int ready, std::uint32_t first_id) {
  std::array<char, 16> number{};
  ssize_t size = 0;
  do {
    size = read(ready, number.data(), number.size() - 1);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) {
    return Fail(Error(Code::kUnsupported, "cannot make a cgroup namespace"));
  }
  const std::string process = std::string("/proc/") + number.data();
  CAISSON_CHECK_OK(WriteIdMap(process + "/uid_map", first_id));
  CAISSON_CHECK_OK(WriteIdMap(process + "/gid_map", first_id));
  NamespacePair pair{os::Fd(open((process + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC)),
                     os::Fd(open((process + "/ns/cgroup").c_str(), O_RDONLY | O_CLOEXEC))};
  if (!pair.user.valid() || !pair.cgroup.valid()) return Fail(Error::FromErrno(errno, "cannot open a namespace"));
  return pair;
}

// The user namespace with the block's id map and a cgroup namespace rooted at `sandbox`.
Result<NamespacePair> MakeNamespaces(const os::Cgroup& sandbox, std::uint32_t first_id) {
  CAISSON_TRY(const auto tasks, sandbox.OpenTasks());
  std::array<int, 2> ready{};
  if (pipe2(ready.data(), O_CLOEXEC) != 0) return Fail(Error::FromErrno(errno, "cannot make a pipe"));
  const os::Fd reading(ready[0]);
  os::Fd writing(ready[1]);
  clone_args args{};
  args.flags = CLONE_NEWUSER | CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<std::uint64_t>(sandbox.unified());
  const pid_t pid = static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof args));
  if (pid < 0) {
    return Fail(Error::FromErrno(errno, "cannot make a user namespace")
                    .Remedy("allow user namespaces: sysctl user.max_user_namespaces=65536"));
  }
  if (pid == 0) HoldNamespaces(writing.get(), tasks);
  writing.Reset();
  Result<NamespacePair> pair = OpenHeldNamespaces(reading.get(), first_id);
  // One that cannot be killed is not waited for: it ends with the keeper, and until then there is no such slot.
  if (kill(pid, SIGKILL) != 0) return Fail(Error::FromErrno(errno, "cannot end the holder of the namespaces"));
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return pair;
}

std::string SlotName(std::uint32_t block) { return "s" + std::to_string(block); }

// The keeper process itself.
class KeeperLoop {
 public:
  KeeperLoop(os::Fd connection, const storage::Places& places, UidBlocks blocks, plan::Expect expect)
      : connection_(std::move(connection)), places_(places), blocks_(std::move(blocks)), expect_(expect) {}

  [[noreturn]] void Run() {
    while (true) {
      Request request;
      const ssize_t n = recv(connection_.get(), &request, sizeof request, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n != sizeof request) break;
      if (request.verb == Request::Verb::kMake) {
        Answer(MakeSlot());
        if (!std::exchange(collected_, true)) Collect();
      } else {
        Release(request.block);
      }
    }
    while (!held_.empty()) Release(*held_.begin());
    if (roots_) roots_->RemoveChildIfUnused("caisson");
    _exit(0);
  }

 private:
  // Not an error of any slot: what cannot be collected stays, and `caisson prune` says why.
  void Collect() const {
    (void)storage::CollectLeftOvers(places_, Deadline::In(kCollectionTime), storage::Effort::kBrief);
  }

  Result<Slot> MakeSlot() {
    for (std::uint32_t tried = 1;; ++tried) {
      CAISSON_TRY(const std::uint32_t block, blocks_.Take());
      Result<os::Cgroup> sandbox = MakeSandboxCgroup(block);
      if (!sandbox) {
        if (folder_) (void)folder_->RemoveUnownedChild(SlotName(block), Deadline::In({}));
        blocks_.Release(block);
        // Somebody with another lock file uses the same block: its ids must not go to a second sandbox.
        if (sandbox.error().code() == Code::kAlreadyExists && tried < os::kUidBlocks) continue;
        return Fail(std::move(sandbox).error());
      }
      held_.insert(block);
      Result<Slot> slot = FillSlot(block, *std::move(sandbox));
      if (!slot) Release(block);
      return slot;
    }
  }

  Result<Slot> FillSlot(std::uint32_t block, os::Cgroup sandbox) {
    const std::uint32_t first_id = UidBlocks::FirstId(block);
    CAISSON_TRY(NamespacePair spaces, MakeNamespaces(sandbox, first_id));
    CAISSON_CHECK_OK(sandbox.EnableControllers());
    CAISSON_TRY(os::Cgroup guest, sandbox.MakeChild("guest"));
    CAISSON_TRY(os::Cgroup leaf, sandbox.MakeChild(LeafName(1)));
    CAISSON_CHECK_OK(guest.SetCpuWeight(kGuestCpuWeight));
    CAISSON_CHECK_OK(sandbox.DelegateTo(first_id + kGuestId));
    os::Fd network;
    if (expect_ != plan::Expect::kOneSandbox) {
      CAISSON_TRY(network, os::EnterNewNetworkNamespace());
    }
    return Slot{.block = block,
                .user_namespace = std::move(spaces.user),
                .network_namespace = std::move(network),
                .cgroup_namespace = std::move(spaces.cgroup),
                .sandbox = std::move(sandbox),
                .guest = std::move(guest),
                .first_leaf = std::move(leaf)};
  }

  // The last sandbox of another process takes Caisson's folder of cgroups away with it, also between two steps here.
  Result<os::Cgroup> MakeSandboxCgroup(std::uint32_t block) {
    constexpr int kAttempts = 100;
    for (int attempt = 1;; ++attempt) {
      const Status opened = OpenFolder();
      Result<os::Cgroup> sandbox = opened ? folder_->MakeOwnedChild(SlotName(block)) : Fail(opened.error());
      if (sandbox || sandbox.error().errno_value() != ENOENT || attempt == kAttempts) return sandbox;
    }
  }

  Status OpenFolder() {
    if (!roots_) {
      CAISSON_TRY(os::Cgroup roots, os::Cgroup::Roots());
      CAISSON_CHECK_OK(roots.EnableControllers());
      roots_ = std::move(roots);
    }
    CAISSON_TRY(os::Cgroup folder, roots_->OpenOrMakeChild("caisson"));
    CAISSON_CHECK_OK(folder.EnableControllers());
    folder_ = std::move(folder);
    return {};
  }

  void Release(std::uint32_t block) {
    // A cgroup that does not empty keeps its block: its ids must not go to another sandbox.
    const bool removed = !folder_ || folder_->RemoveChild(SlotName(block)).has_value();
    held_.erase(block);
    if (removed) blocks_.Release(block);
  }

  void Answer(const Result<Slot>& slot) const {
    Reply reply;
    std::vector<int> fds;
    if (slot) {
      reply.block = slot->block;
      reply.mode = slot->sandbox.mode();
      fds = {slot->user_namespace.get(), slot->cgroup_namespace.get()};
      for (const os::Cgroup* cgroup : {&slot->sandbox, &slot->guest, &slot->first_leaf}) {
        for (const int fd : cgroup->Directories()) fds.push_back(fd);
      }
      if (slot->network_namespace.valid()) fds.push_back(slot->network_namespace.get());
    } else {
      reply.error = slot.error().errno_value() == 0 ? EIO : slot.error().errno_value();
      std::strncpy(reply.message, slot.error().message().c_str(), sizeof reply.message - 1);
    }
    (void)os::SendWithFds(connection_.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, fds);
  }

  os::Fd connection_;
  const storage::Places& places_;
  UidBlocks blocks_;
  plan::Expect expect_;
  std::optional<os::Cgroup> roots_;
  std::optional<os::Cgroup> folder_;
  std::set<std::uint32_t> held_;
  bool collected_ = false;  // what killed launchers left
};

}  // namespace

Result<Keeper> Keeper::Start(const storage::Places& places, const os::Fd& engine, plan::Expect expect) {
  CAISSON_TRY(auto ends, os::SocketPair(os::SocketKind::kPacket));
  CAISSON_TRY(UidBlocks blocks, UidBlocks::Open(places.runtime));
  const pid_t pid = fork();
  if (pid < 0) return Fail(Error::FromErrno(errno, "cannot start the keeper"));
  if (pid == 0) {
    ends.first.Reset();
    close(engine.get());
    prctl(PR_SET_NAME, "caisson-keeper", 0, 0, 0);
    // What is made ahead of time gives way to what somebody waits for.
    if (expect != plan::Expect::kOneSandbox) (void)setpriority(PRIO_PROCESS, 0, 10);
    KeeperLoop(std::move(ends.second), places, std::move(blocks), expect).Run();
  }
  return Keeper(std::move(ends.first), std::move(blocks), pid);
}

Keeper::Keeper(Keeper&& other) noexcept
    : connection_(std::move(other.connection_)),
      blocks_(std::move(other.blocks_)),
      process_(std::exchange(other.process_, -1)) {}

Keeper::~Keeper() {
  if (process_ < 0) return;
  connection_.Reset();
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status Keeper::OrderSlot() {
  const Request request;
  return os::SendWithFds(connection_.get(), {reinterpret_cast<const char*>(&request), sizeof request}, {});
}

Result<Slot> Keeper::TakeSlot() {
  CAISSON_TRY(os::Message message,
              os::ReceivePacket(connection_.get(), sizeof(Reply), Deadline::In(std::chrono::seconds(10))));
  Reply reply;
  if (message.data.size() != sizeof reply) return Fail(Error(Code::kInternal, "the keeper's reply is malformed"));
  std::memcpy(&reply, message.data.data(), sizeof reply);
  if (reply.error != 0) return Fail(Error::FromErrno(reply.error, reply.message));
  const std::size_t each = reply.mode == os::CgroupMode::kUnified ? 1 : 4;
  const std::size_t network = 2 + 3 * each;
  if (message.fds.size() != network && message.fds.size() != network + 1) {
    return Fail(Error(Code::kInternal, "the keeper's reply lacks descriptors"));
  }
  const auto cgroup_at = [&](std::size_t index) {
    std::vector<os::Fd> directories;
    for (std::size_t i = 0; i < each; ++i) directories.push_back(std::move(message.fds[2 + index * each + i]));
    return os::Cgroup::FromDirectories(reply.mode, std::move(directories));
  };
  return Slot{.block = reply.block,
              .user_namespace = std::move(message.fds[0]),
              .network_namespace = message.fds.size() > network ? std::move(message.fds[network]) : os::Fd(),
              .cgroup_namespace = std::move(message.fds[1]),
              .sandbox = cgroup_at(0),
              .guest = cgroup_at(1),
              .first_leaf = cgroup_at(2)};
}

Status Keeper::ReturnSlot(std::uint32_t block) {
  const Request request{.verb = Request::Verb::kRelease, .block = block};
  return os::SendWithFds(connection_.get(), {reinterpret_cast<const char*>(&request), sizeof request}, {});
}

}  // namespace caisson::launcher
