#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "bench/variant.h"
#include "bench/work.h"
#include "bench/work_series.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/sandbox/sandboxes.h"

namespace caisson::bench {

// Where work is done.
class Workplace {
 public:
  Workplace() = default;
  virtual ~Workplace() = default;
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  struct Times {
    std::chrono::nanoseconds command;  // from its start to its result
    std::chrono::nanoseconds work;     // processor time, as bench-work says
  };
  // In the folder of that name, a new one at first. Errors also when bench-work did not succeed.
  virtual Result<Times> Do(const Work& work, const std::string& folder) = 0;
};

// A sandbox that stays, with room for every work.
class SandboxWorkplace : public Workplace {
 public:
  // `program_directory` holds bench-work. Errors: those of Sandboxes::Create.
  static Result<std::unique_ptr<Workplace>> Make(sandbox::Sandboxes& engine, const std::string& program_directory,
                                                 plan::Storage storage, Report report);
  SandboxWorkplace(std::unique_ptr<sandbox::Sandbox> sandbox, Report report)
      : sandbox_(std::move(sandbox)), report_(report) {}
  Result<Times> Do(const Work& work, const std::string& folder) override;

 private:
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  Report report_;
};

// A folder of the host, removed with everything in it at the end.
class NativeWorkplace : public Workplace {
 public:
  // On a tmpfs that is attached nowhere, or in `data_directory`.
  static Result<std::unique_ptr<Workplace>> MakeInMemory(const std::string& program_directory);
  static Result<std::unique_ptr<Workplace>> MakeOnDisk(const std::string& program_directory,
                                                       const std::string& data_directory);
  ~NativeWorkplace() override;
  Result<Times> Do(const Work& work, const std::string& folder) override;

 private:
  NativeWorkplace(std::string program, std::string root, os::Fd mount)
      : program_(std::move(program)), root_(std::move(root)), mount_(std::move(mount)) {}

  std::string program_;
  std::string root_;
  os::Fd mount_;  // of a tmpfs
};

class WorkVariant : public Variant {
 public:
  // `series` and `place` are borrowed and outlive this object. Makes the files that are to be changed before.
  static Result<std::unique_ptr<Variant>> Make(const WorkSeries& series, Workplace& place);
  WorkVariant(const WorkSeries& series, Workplace& place) : series_(series), place_(place) {}
  Result<std::chrono::nanoseconds> RunOnce() override;

 private:
  const WorkSeries& series_;
  Workplace& place_;
};

}  // namespace caisson::bench
