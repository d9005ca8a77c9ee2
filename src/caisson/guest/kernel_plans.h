#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "caisson/base/result.h"
#include "caisson/guest/domain_thread.h"
#include "caisson/os/landlock.h"
#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

// What binds some commands beside what binds all of them: Landlock rules, made once and used for any number of
// commands.
class KernelPlans {
 public:
  // Its number, from 1. Paths are opened with the rights of `request.id()` and lead through no link: what a command may
  // have put in a folder's place grants nothing. At most kMost are kept: the oldest is forgotten. Errors: kUnsupported
  // (no Landlock), kResourceExhausted.
  Result<std::uint64_t> Make(const proto::MakePlan& request);
  // How a process comes under a plan: it is cloned by `thread`, or without one enters `rules` itself. Borrowed, until
  // the next Make.
  struct Binding {
    const os::LandlockRules* rules = nullptr;
    DomainThread* thread = nullptr;
  };
  // For the first process of a plan there is no thread: a plan may be for one alone. Nor is there one where the plan
  // does not let what is born under it write to /proc, as a process does to confine itself. Absent: there is no such
  // plan (any more).
  std::optional<Binding> Bind(std::uint64_t number);

  static constexpr std::size_t kMost = 8;

 private:
  struct Kept {
    std::uint64_t number;
    os::LandlockRules rules;
    bool may_have_thread = false;
    std::unique_ptr<DomainThread> thread = nullptr;
    bool was_used = false;
  };
  std::deque<Kept> plans_;
  std::uint64_t next_ = 1;
};

}  // namespace caisson::guest
