#include "caisson/daemon/daemon.h"

#include <string>
#include <vector>

#include "caisson/os/program_folder.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return caisson::daemon::RunDaemon(arguments, caisson::os::ProgramFolder());
}
