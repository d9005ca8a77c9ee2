#pragma once

#include <string>

#include "escape/probe.h"

namespace caisson::escape {

// Runs one probe in this process and prints its one line. Returns the exit status: 0 `succeeded`, 10 `refused`,
// 77 `not_run`. A probe that the kernel kills takes the program with it.
int RunOne(const Probe& probe, const Context& context);

// Runs each probe in a child of its own, with a deadline, and prints one JSON object a line:
// {"probe", "catalogue", "result": succeeded|refused|killed|not_run, "detail": errno or signal name, "note"}.
// Returns 0 when every probe gave a result.
int RunAll(const Probes& probes, const Context& context);

}  // namespace caisson::escape
