#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/program_index.h"
#include "caisson/sandbox/sandbox.h"

namespace caisson::guard {

// What can be executed in a sandbox's image. Thread-safe.
class ProgramSource {
 public:
  using Index = std::shared_ptr<const os::ProgramIndex>;  // shared by whoever compiles with it
  virtual ~ProgramSource() = default;
  virtual Result<Index> Find(sandbox::Sandbox& sandbox) = 0;
};

// Of the image `host`: this process looks itself, and again when the folders of programs or the package database have
// changed. One for all sandboxes.
class HostPrograms : public ProgramSource {
 public:
  Result<Index> Find(sandbox::Sandbox& /*sandbox*/) override { return Find(); }
  Result<Index> Find();

 private:
  std::mutex mutex_;
  std::string stamp_;
  Index index_;
};

// Of an image of its own: the sandbox is asked once, and what it says is good for itself alone.
class OwnPrograms : public ProgramSource {
 public:
  Result<Index> Find(sandbox::Sandbox& sandbox) override;

 private:
  std::mutex mutex_;
  Index index_;
};

}  // namespace caisson::guard
