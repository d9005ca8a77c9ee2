#include <iostream>
#include <string>
#include <vector>

#include "caisson/daemon/daemon.h"
#include "caisson/os/program_folder.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto folder = caisson::os::ProgramFolder();
  if (!folder) {
    std::cerr << "caisson: " << folder.error().message() << "\n";
    return 3;
  }
  return caisson::daemon::RunDaemon(arguments, *folder);
}
