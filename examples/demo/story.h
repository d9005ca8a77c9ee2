#pragma once

#include <string>

#include "caisson/cli/interrupts.h"
#include "caisson/sandbox/sandboxes.h"
#include "report.h"

namespace caisson::demo {

// The project whose tests run: an unmodified source archive of Python code.
struct Project {
  std::string name;
  std::string version;
  std::string sha256;   // of the archive
  std::string archive;  // its bytes
};

// The demo: the project's tests run in a sandbox and outside, with the same counts; an agent's edit breaks one of them,
// a second edit repairs it; what the sandbox tries against the host fails. Shows each step and checks what must hold.
// Call as root, from the only thread: it gives up root as soon as it has the sandbox. Leaves nothing behind. Errors:
// those of the engine; what did not hold is in the report instead.
Status TellTheStory(sandbox::Sandboxes& sandboxes, const Project& project, cli::Interrupts& interrupts, Report& report);

}  // namespace caisson::demo
