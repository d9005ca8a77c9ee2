#pragma once

#include <string>
#include <vector>

#include "caisson/os/fd.h"

namespace caisson::daemon {

// What a service manager gives and hears. Source: sd_listen_fds(3), sd_notify(3).

// The listening sockets it made for this process; none without one. The variables that tell of them are taken away, so
// that no child reads them. Call from the only thread.
std::vector<os::Fd> TakeListeners();

// Where it hears of the state of the service; taken away as above. Empty without one.
std::string TakeNotifySocket();

// Says for example "READY=1". A manager that does not hear is no error.
void Notify(const std::string& notify_socket, const std::string& state);

}  // namespace caisson::daemon
