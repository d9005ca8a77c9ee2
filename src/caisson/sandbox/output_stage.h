#pragma once

#include <array>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/sandbox/spool_file.h"

namespace caisson::sandbox {

// A pipe between a command's own and its spool, for a stream of much: while bytes are copied from a pipe into a file
// nobody can write to that pipe, and handing them to another pipe copies nothing. Not thread-safe.
// Kernel: splice(2) between pipes.
class OutputStage {
 public:
  static Result<OutputStage> Make();
  // As another process made it.
  OutputStage(os::Fd reading, os::Fd writing) : reading_(std::move(reading)), writing_(std::move(writing)) {}

  bool Holds() const;
  // Takes over what `pipe` holds now, as much as there is room for.
  SpoolFile::Moved Fill(int pipe) const;
  int reading() const { return reading_.get(); }
  // Its two ends, as the second constructor takes them.
  std::array<int, 2> Ends() const { return {reading_.get(), writing_.get()}; }

 private:
  os::Fd reading_;
  os::Fd writing_;
};

}  // namespace caisson::sandbox
