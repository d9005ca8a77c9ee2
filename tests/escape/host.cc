// What a new network, ipc and uts namespace must hide.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "caisson/os/fd.h"
#include "escape/attempt.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

Outcome ConnectToHost(const Context& context) {
  const std::string* port = context.Find("port");
  if (port == nullptr) return NotRun("needs --port");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::strtoul(port->c_str(), nullptr, 10)));
  const os::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return FromReturn(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

// `name` follows `lead` zero bytes: one for an abstract name, none for a path.
Outcome ConnectUnix(const std::string& name, std::size_t lead) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + lead >= sizeof(address.sun_path)) return NotRun("the socket's name is too long");
  std::memcpy(address.sun_path + lead, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + lead + name.size());
  const os::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return FromReturn(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length));
}

Outcome ConnectToAbstractSocket(const Context& context) {
  const std::string* name = context.Find("abstract-socket");
  return name == nullptr ? NotRun("needs --abstract-socket") : ConnectUnix(*name, 1);
}

Outcome ConnectToSocketFile(const Context& context) {
  const std::string* path = context.Find("socket-file");
  return path == nullptr ? NotRun("needs --socket-file") : ConnectUnix(*path, 0);
}

Outcome AttachSharedMemory(const Context& context) {
  const std::string* key = context.Find("shm-key");
  if (key == nullptr) return NotRun("needs --shm-key");
  return FromReturn(::shmget(static_cast<key_t>(std::strtol(key->c_str(), nullptr, 10)), 0, 0));
}

Outcome OpenPosixSharedMemory(const Context& context) {
  const std::string* name = context.Find("posix-shm");
  return name == nullptr ? NotRun("needs --posix-shm") : TryRead("/dev/shm/" + *name);
}

Outcome ReadHostName(const Context& context) {
  const std::string* host = context.Find("hostname");
  if (host == nullptr) return NotRun("needs --hostname");
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) return Refused(errno);
  return *host == name ? Succeeded(*host) : Refused(ENOENT);
}

Outcome ReadHostMachineId(const Context& context) {
  const std::string* id = context.Find("machine-id");
  if (id == nullptr) return NotRun("needs --machine-id");
  return Content("/etc/machine-id").find(*id) == std::string::npos ? Refused(ENOENT) : Succeeded();
}

}  // namespace

Probes HostProbes() {
  return {
      {"host_loopback", "G4", "connect to a listener on the host's loopback address", ConnectToHost},
      {"host_abstract_socket", "G2", "connect to an abstract socket of the host", ConnectToAbstractSocket},
      {"host_socket_file", "G2", "connect to a socket file of the host", ConnectToSocketFile},
      {"host_sysv_shm", "D12", "find a System V segment of the host", AttachSharedMemory},
      {"host_posix_shm", "D12", "open shared memory of the host", OpenPosixSharedMemory},
      {"host_name", "B9", "learn the host's name", ReadHostName},
      {"host_machine_id", "B9", "learn the host's machine id", ReadHostMachineId},
  };
}

}  // namespace caisson::escape
