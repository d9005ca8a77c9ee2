#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bench/floor_wire.h"
#include "bench/program.h"
#include "bench/variant.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::bench {

// The running bench-floor program. Ends it when destroyed.
class FloorProgram {
 public:
  // Errors: those of the start, and what bench-floor says when it cannot set up its root.
  static Result<std::unique_ptr<FloorProgram>> Start(const std::string& path);

  Result<std::chrono::nanoseconds> Measure(FloorRequest request);

 private:
  FloorProgram(Program program, os::Fd channel);
  Result<std::chrono::nanoseconds> Receive();

  Program program_;
  os::Fd channel_;
};

// One of the two references, measured inside bench-floor.
class ReferenceVariant : public Variant {
 public:
  // `program` is borrowed and outlives this object.
  ReferenceVariant(FloorProgram& program, FloorRequest request) : program_(program), request_(request) {}
  Result<std::chrono::nanoseconds> RunOnce() override { return program_.Measure(request_); }

 private:
  FloorProgram& program_;
  FloorRequest request_;
};

}  // namespace caisson::bench
