#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace caisson::plan {

// Test support: runs a seccomp program as the kernel does (linux/filter.h, the instructions that CompileFilter uses)
// and remembers what has been reached.
class BpfInterpreter {
 public:
  explicit BpfInterpreter(std::vector<sock_filter> program) : program_(std::move(program)), reached_(program_.size()) {}

  // The SECCOMP_RET_* value for that call, nullopt when the program leaves its bounds, reads outside `call` or holds an
  // instruction unknown here.
  std::optional<std::uint32_t> Run(const seccomp_data& call);

  // The positions of the instructions that no run so far has executed.
  std::vector<std::size_t> Unreached() const;
  // The conditional jumps of which no run so far has gone one of the two ways.
  std::vector<std::size_t> Undecided() const;
  // The instructions of the longest run so far.
  std::size_t longest_run() const { return longest_run_; }

 private:
  struct Reach {
    bool executed = false;
    bool taken = false;
    bool passed = false;
  };

  std::vector<sock_filter> program_;
  std::vector<Reach> reached_;
  std::size_t longest_run_ = 0;
};

}  // namespace caisson::plan
