#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/variant.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::bench {

// A whole program, from posix_spawn(3) to its end: bubblewrap, `caisson run`.
class SpawnVariant : public Variant {
 public:
  // Errors: kNotFound when argv[0] is not an executable file.
  static Result<std::unique_ptr<Variant>> Make(std::vector<std::string> argv);

  Result<std::chrono::nanoseconds> RunOnce() override;

 private:
  SpawnVariant(std::vector<std::string> argv, os::Fd diagnostics);
  std::string TakeDiagnostics();

  std::vector<std::string> argv_;
  os::Fd diagnostics_;  // takes the program's standard error without a reader
};

}  // namespace caisson::bench
