#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "bench/variant.h"
#include "caisson/base/result.h"
#include "caisson/sandbox/sandboxes.h"

namespace caisson::bench {

// The engine inside this process, prepared for many sandboxes. `program_directory` holds its two other programs.
// Call before the first thread.
Result<std::unique_ptr<sandbox::Sandboxes>> StartEngine(const std::string& program_directory);

// A fresh sandbox, one command in it, destroyed: everything an isolated `true` costs.
class EngineColdVariant : public Variant {
 public:
  // `engine` is borrowed and outlives this object.
  explicit EngineColdVariant(sandbox::Sandboxes& engine) : engine_(engine) {}
  Result<std::chrono::nanoseconds> RunOnce() override;

 private:
  sandbox::Sandboxes& engine_;
};

// One command in a sandbox that stays.
class ExecRunningVariant : public Variant {
 public:
  // Errors: those of Sandboxes::Create.
  static Result<std::unique_ptr<Variant>> Make(sandbox::Sandboxes& engine);
  explicit ExecRunningVariant(std::unique_ptr<sandbox::Sandbox> sandbox) : sandbox_(std::move(sandbox)) {}
  Result<std::chrono::nanoseconds> RunOnce() override;

 private:
  std::unique_ptr<sandbox::Sandbox> sandbox_;
};

}  // namespace caisson::bench
