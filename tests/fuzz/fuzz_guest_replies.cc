// What the engine takes from a guest: frames, descriptors and replies. The launcher's part is played here, honestly.
// Input: the number of requests, their kinds, then the parts that the guest sends (sent_frames.h).

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "caisson/backend/instance.h"
#include "caisson/os/socket.h"
#include "fuzz/sent_frames.h"

namespace {

using caisson::Deadline;
using caisson::backend::Instance;
using caisson::backend::LauncherLink;
using caisson::fuzz::Input;
using caisson::fuzz::Require;
using caisson::os::Fd;
namespace os = caisson::os;
namespace plan = caisson::plan;

Deadline Patience() { return Deadline::In(std::chrono::seconds(5)); }

// Readable at once and for ever, as the descriptor of a process that has ended.
os::PidFd EndedProcess() {
  std::array<int, 2> ends{};
  Require(pipe(ends.data()) == 0, "a pipe can be made");
  close(ends[1]);
  return os::PidFd(Fd(ends[0]));
}

// Answers kCreate before it is asked: pidfd, kill switch, and a leaf.
void AnswerCreate(int launcher) {
  const os::PidFd guest = EndedProcess();
  const Fd file(memfd_create("leaf", MFD_CLOEXEC));
  std::vector<int> fds = {guest.get(), file.get()};
  fds.insert(fds.end(), plan::kLeafEngineFds + 1, file.get());
  plan::LaunchReply reply;
  reply.slot = 7;
  reply.leaf = 1;
  reply.leaf_guest_fds = 1;
  const std::string_view bytes(reinterpret_cast<const char*>(&reply), sizeof reply);
  Require(os::SendWithFds(launcher, bytes, fds).has_value(), "a reply can be sent");
}

// Takes the guest's end of the control socket out of the request and says everything on it.
std::vector<Fd> PlayGuest(int launcher, Input& input) {
  auto request = os::ReceivePacket(launcher, sizeof(plan::LaunchRequest), Patience());
  Require(request && request->fds.size() == 2, "the launcher is asked with two descriptors");
  const int control = request->fds[0].get();
  constexpr int kMostParts = 16;
  caisson::fuzz::SendParts(control, input, kMostParts);
  shutdown(control, SHUT_WR);
  return std::move(request->fds);
}

void RequireStdio(const Instance::Started& started, std::size_t expected) {
  if (started.error != 0) {
    Require(!started.leaf && started.stdio.empty(), "what did not start has nothing");
    Require(started.step.size() <= 1000, "a step is short");
    return;
  }
  Require(started.leaf.has_value() && started.stdio.size() == expected, "what started has its streams");
  for (const Fd& fd : started.stdio) {
    struct stat info{};
    Require(fstat(fd.get(), &info) == 0 && (S_ISFIFO(info.st_mode) || isatty(fd.get()) == 1),
            "a stream from inside is a pipe or a terminal");
  }
}

void Ask(Instance& instance, std::uint8_t kind) {
  if (kind % 3 == 2) {
    (void)instance.Signal(1, 15);
    return;
  }
  caisson::proto::StartCommand command;
  command.add_argv("true");
  if (kind % 3 == 1) command.mutable_terminal()->set_rows(24);
  auto started = instance.Start(command);
  if (!started) return;
  RequireStdio(*started, kind % 3 == 1 ? 1 : 3);
  if (started->leaf) instance.Return(*std::move(started->leaf));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const unsigned requests = input.Take<std::uint8_t>() % 8;
  const std::string_view kinds = input.TakeBytes(requests);

  auto ends = os::SocketPair(os::SocketKind::kPacket);
  Require(ends.has_value(), "a socket can be made");
  AnswerCreate(ends->second.get());
  const auto link = LauncherLink::Adopt(std::move(ends->first), EndedProcess(), plan::Expect::kOneSandbox);
  std::vector<Fd> guest;
  std::thread player([&] { guest = PlayGuest(ends->second.get(), input); });
  auto instance = Instance::Create(*link, plan::LaunchPlan{}, {});
  player.join();
  ends->second.Reset();  // a leaf more there is not
  if (!instance) return 0;
  for (const char kind : kinds) Ask(**instance, static_cast<std::uint8_t>(kind));
  return 0;
}
