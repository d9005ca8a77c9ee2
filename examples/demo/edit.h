#pragma once

#include <string>

#include "caisson/sandbox/files.h"
#include "report.h"

namespace caisson::demo {

// One line of a file and what an agent makes of it.
struct Edit {
  std::string path;
  std::string before;
  std::string after;
};

// Makes the edit through the sandbox's file operations and shows it. The result is the file's new content.
// Errors: those of Files; kConflict when `before` is not there exactly once.
Result<std::string> Apply(const Edit& edit, sandbox::Files files, Report& report);

}  // namespace caisson::demo
