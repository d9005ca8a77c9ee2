#include <unistd.h>

#include <cstring>

#include "caisson/launcher/server.h"

// Started by the engine as the first process of a pid namespace, with three descriptors: 3 the connection, 4 the data
// folder, 5 the runtime folder. The one argument, "one" or "many", says how many sandboxes to expect.
int main(int argc, char** argv) {
  using caisson::os::Fd;
  if (argc != 2) return 2;
  const bool many = std::strcmp(argv[1], "many") == 0;
  setsid();  // a signal to the caller's terminal group must not end the process that cleans up
  caisson::launcher::ServerInputs inputs{Fd(3), Fd(4), Fd(5)};
  return caisson::launcher::RunServer(
      std::move(inputs), many ? caisson::plan::Expect::kManySandboxes : caisson::plan::Expect::kOneSandbox);
}
