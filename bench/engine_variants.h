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

// /bin/true in a sandbox. Errors also when the command did anything but exit with status 0.
Status RunTrue(sandbox::Sandbox& sandbox, sandbox::ReportChanges report);

// What differs between the variants of one measurement.
struct EngineCase {
  plan::Storage storage = plan::Storage::kTmpfs;
  sandbox::ReportChanges report = sandbox::ReportChanges::kNo;
};

// A fresh sandbox, one command in it, destroyed: everything an isolated `true` costs.
class EngineColdVariant : public Variant {
 public:
  // `engine` is borrowed and outlives this object.
  EngineColdVariant(sandbox::Sandboxes& engine, EngineCase engine_case) : engine_(engine), case_(engine_case) {}
  Result<std::chrono::nanoseconds> RunOnce() override;

 private:
  sandbox::Sandboxes& engine_;
  EngineCase case_;
};

// One command in a sandbox that stays.
class ExecRunningVariant : public Variant {
 public:
  // Errors: those of Sandboxes::Create.
  static Result<std::unique_ptr<Variant>> Make(sandbox::Sandboxes& engine, EngineCase engine_case);
  ExecRunningVariant(std::unique_ptr<sandbox::Sandbox> sandbox, EngineCase engine_case)
      : sandbox_(std::move(sandbox)), case_(engine_case) {}
  Result<std::chrono::nanoseconds> RunOnce() override;

 private:
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  EngineCase case_;
};

}  // namespace caisson::bench
