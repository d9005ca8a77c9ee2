#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::os {

// What a probe of one primitive found. kMissing: no sandbox can be made without it. kDegraded: a sandbox can be made,
// at the stated cost. kUntested: it cannot be tried without root.
enum class Finding { kOk, kDegraded, kMissing, kUntested };

// The stable name: "ok", "degraded", "missing", "untested".
std::string_view FindingName(Finding finding);

// One thing of the kernel or of the host's set-up that sandboxes are made of.
struct Primitive {
  std::string name;  // stable, [a-z0-9_]
  Finding finding = Finding::kOk;
  std::string found;   // what is there, for example "ABI 7"
  std::string cost;    // what lacks without it; empty when kOk
  std::string remedy;  // how to get it; empty when kOk
};

// Tries every primitive on this host, each by using it; kernel versions are never compared. Forks children that
// end before it returns, and makes and removes one empty cgroup when run as root. Nothing else changes.
// Call before the first thread. Takes some 50 ms.
std::vector<Primitive> ProbeHost();

// True when nothing a sandbox needs is missing or untested.
bool CanMakeSandboxes(const std::vector<Primitive>& primitives);

// True when a range of the text of /etc/subuid or /etc/subgid overlaps the ids that Caisson takes. Source: subuid(5).
bool TakesCaissonIds(std::string_view subids);

// "6.18.1 x86_64": release and machine. Source: uname(2).
std::string KernelRelease();

}  // namespace caisson::os
