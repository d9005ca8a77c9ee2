#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace caisson::os {

// Where a host mounts the hierarchies Caisson uses, read from the text of /proc/self/mountinfo. Source: proc(5).
struct CgroupMounts {
  std::optional<std::string> unified;  // cgroup2
  std::optional<std::string> memory;   // cgroup v1 hierarchies with that controller
  std::optional<std::string> cpu;
  std::optional<std::string> pids;
};
CgroupMounts ParseCgroupMounts(std::string_view mountinfo);

}  // namespace caisson::os
