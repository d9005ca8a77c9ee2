#include "caisson/backend/launcher_door.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "caisson/os/socket.h"

namespace caisson::backend {
namespace {

constexpr const char* kName = "launcher.sock";
constexpr int kBacklog = 64;
constexpr std::chrono::seconds kPatience{5};

// By the folder's descriptor: whatever the folder's own path is, this fits into an address.
sockaddr_un AddressIn(const os::Fd& runtime) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(runtime.get()) + "/" + kName;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

Result<os::Fd> MakeSocket() {
  os::Fd made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made.valid()) return Fail(Error::FromErrno(errno, "cannot make a socket"));
  return made;
}

}  // namespace

Result<os::Fd> OpenDoor(const os::Fd& runtime) {
  CAISSON_TRY(os::Fd listener, MakeSocket());
  if (unlinkat(runtime.get(), kName, 0) != 0 && errno != ENOENT) {
    return Fail(Error::FromErrno(errno, "cannot remove the old launcher.sock"));
  }
  const sockaddr_un address = AddressIn(runtime);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      fchmodat(runtime.get(), kName, 0600, 0) != 0 || listen(listener.get(), kBacklog) != 0) {
    return Fail(Error::FromErrno(errno, "cannot listen at launcher.sock"));
  }
  return listener;
}

Result<os::Fd> ConnectToDoor(const os::Fd& runtime) {
  CAISSON_TRY(os::Fd connection, MakeSocket());
  const sockaddr_un address = AddressIn(runtime);
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return connection;
  if (errno == ENOENT || errno == ECONNREFUSED) return os::Fd();
  return Fail(Error::FromErrno(errno, "cannot connect to launcher.sock"));
}

Result<plan::DoorReply> SayAtDoor(const os::Fd& connection, plan::Hello hello, const std::vector<int>& fds) {
  const plan::DoorRequest request{.hello = hello};
  CAISSON_CHECK_OK(os::SendWithFds(connection.get(), {reinterpret_cast<const char*>(&request), sizeof request}, fds));
  CAISSON_TRY(const os::Message message,
              os::ReceivePacket(connection.get(), sizeof(plan::DoorReply), Deadline::In(kPatience)));
  plan::DoorReply reply;
  if (message.data.size() != sizeof reply) return Fail(Error(Code::kInternal, "the launcher's answer is malformed"));
  std::memcpy(&reply, message.data.data(), sizeof reply);
  if (reply.error == EPROTO) {
    return Fail(Error(Code::kUnsupported, "the running launcher is of another release")
                    .Remedy("delete its sandboxes with that release before using this one"));
  }
  if (reply.error != 0) return Fail(Error::FromErrno(reply.error, "the launcher refused"));
  return reply;
}

}  // namespace caisson::backend
