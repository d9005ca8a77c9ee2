#include <cstdlib>

#include "caisson/cli/cli.h"

int main(int argc, char** argv) {
  // A program may be started without even its name.
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return caisson::cli::Main(arguments, [](const char* name) -> const char* { return std::getenv(name); });
}
