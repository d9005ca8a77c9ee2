#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caisson/os/fd.h"
#include "support/host_program.h"
#include "support/secret.h"
#include "support/temp_folder.h"

namespace caisson::support {

// What lives beside a test and what no sandbox of the test may reach: a file of the host's root with a secret; a second
// sandbox with two, one in a file of its workspace and one in its environment; a listener on the loopback interface and
// one on an abstract socket. All of it is this object's own and ends with it. Needs root and CAISSON_BIN; what cannot
// be set up is a failure of the test. For one thread.
class Canaries {
 public:
  Canaries();
  Canaries(const Canaries&) = delete;
  Canaries& operator=(const Canaries&) = delete;
  ~Canaries();

  // What was reached since the last call, a line each. It takes as long as one answer of the second sandbox.
  std::vector<std::string> TakeTouched();

  // For the test of the canaries themselves.
  std::string secret_file() const { return folder_ / "secret"; }
  const Secret& file_secret() const { return file_secret_; }
  const Secret& neighbours_secret() const { return environment_secret_; }
  std::string neighbours_workspace() const { return folder_ / "workspace"; }
  const HostProgram& neighbour() const { return neighbour_; }
  std::uint16_t port() const { return port_; }
  const std::string& socket_name() const { return socket_name_; }

 private:
  void LookAtFile(std::vector<std::string>& touched);
  void LookAtNeighbour(std::vector<std::string>& touched);
  // What the second sandbox says of itself; empty when it does not answer.
  std::string AskNeighbour();

  TempFolder folder_;
  Secret file_secret_;
  Secret workspace_secret_;
  Secret environment_secret_;
  os::Fd file_;      // open since before it was watched
  os::Fd openings_;  // inotify on the file
  std::string socket_name_;
  std::uint16_t port_ = 0;
  os::Fd loopback_;
  os::Fd abstract_;
  HostProgram neighbour_;
  int questions_ = 0;
  std::string first_answer_;
};

}  // namespace caisson::support
