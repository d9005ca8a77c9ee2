#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "caisson/launcher/server.h"

// Started by the engine as the first process of a pid namespace, with descriptors: 3 the connection, 4 the data folder,
// 5 the runtime folder, and with "engines" 6 the door. The one argument says what to expect (plan::Expect).
int main(int argc, char** argv) {
  using caisson::os::Fd;
  if (argc != 2) return 2;
  using caisson::plan::Expect;
  const std::string_view argument = argv[1];
  const Expect expect = argument == "engines" ? Expect::kEngines
                        : argument == "many"  ? Expect::kManySandboxes
                                              : Expect::kOneSandbox;
  umask(0022);  // images and layers have the modes they are given, whoever starts this
  setsid();     // a signal to the caller's terminal group must not end the process that cleans up
  caisson::launcher::ServerInputs inputs{Fd(3), Fd(4), Fd(5), Fd(expect == Expect::kEngines ? 6 : -1)};
  return caisson::launcher::RunServer(std::move(inputs), expect);
}
