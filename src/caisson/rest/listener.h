#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/rest/admission.h"

namespace caisson::rest {

// A socket on which connections arrive.
struct Listener {
  os::Fd socket;  // listening, non-blocking
  Door::Kind kind = Door::Kind::kUnix;
  std::uint16_t port = 0;  // of TCP
  std::string path;        // of a Unix socket that we made
  dev_t device = 0;
  ino_t inode = 0;
};

// Makes a Unix socket at `path`, mode 0600 from birth. A socket file on which nobody answers is replaced.
// Errors: kInvalidArgument (the path is longer than sockaddr_un takes: 107 bytes), kConflict (another server answers
// there), kAlreadyExists (something else than a socket is there, which stays).
Result<Listener> ListenUnix(const std::string& path);

// Listens on 127.0.0.1. Port 0: the kernel chooses one.
Result<Listener> ListenLoopback(std::uint16_t port);

// Takes over a listening socket that another process made: a Unix socket, or TCP on the loopback interface.
// Errors: kInvalidArgument for anything else.
Result<Listener> AdoptListener(os::Fd socket);

// Removes the file of a Unix socket that we made, if it is still ours.
void RemoveSocketFile(const Listener& listener);

// The door of a connection that arrived there. The peer of a Unix socket is who the kernel says it is (SO_PEERCRED,
// unix(7)).
Result<Door> DoorOf(const Listener& listener, int connection);

}  // namespace caisson::rest
