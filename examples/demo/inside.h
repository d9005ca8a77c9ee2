#pragma once

#include <string>
#include <vector>

#include "caisson/cli/interrupts.h"
#include "caisson/sandbox/sandbox.h"
#include "report.h"

namespace caisson::demo {

// Runs commands in the demo's sandbox and shows each: the command, the last lines it printed, its outcome, how long it
// took and what it used. References are borrowed and outlive this object.
class Inside {
 public:
  Inside(sandbox::Sandbox& sandbox, cli::Interrupts& interrupts, Report& report)
      : sandbox_(sandbox), interrupts_(interrupts), report_(report) {}

  struct Options {
    std::string name;  // in the table at the end
    std::string cwd = plan::kAgentWorkspace;
    sandbox::User user = sandbox::User::kAgent;
    std::size_t shown_lines = 4;
  };
  // Errors: those of Sandbox::Start and Command::Wait; kUnavailable when the person at the terminal ended it.
  Result<sandbox::CommandResult> Run(const std::vector<std::string>& argv, const Options& options);

  sandbox::Sandbox& sandbox() { return sandbox_; }

 private:
  sandbox::Sandbox& sandbox_;
  cli::Interrupts& interrupts_;
  Report& report_;
};

}  // namespace caisson::demo
