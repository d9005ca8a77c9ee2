#pragma once

#include <cstdint>
#include <string>

namespace caisson::service {

// What a caller may do. Every operation asks for exactly one; a face declares it beside each of its routes.
enum class Permission : std::uint32_t {
  kNone = 0,                    // whoever can reach the node: health
  kReadSandboxes = 1U << 0U,    // see sandboxes, commands, events
  kManageSandboxes = 1U << 1U,  // make, pause, resume, stop, delete
  kRunCommands = 1U << 2U,      // start, feed, signal commands and read their output
  kReadFiles = 1U << 3U,
  kWriteFiles = 1U << 4U,
};

constexpr Permission operator|(Permission a, Permission b) {
  return static_cast<Permission>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool Includes(Permission all, Permission one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) == static_cast<std::uint32_t>(one);
}

inline constexpr Permission kOperator = Permission::kReadSandboxes | Permission::kManageSandboxes |
                                        Permission::kRunCommands | Permission::kReadFiles | Permission::kWriteFiles;

// Through which door a request came.
enum class Face : std::uint8_t { kRest, kCli };

// Who asks. A face makes one for each request, from what the kernel or a key says about the other end.
struct Caller {
  std::string name;  // "uid 0", or the name of a key: what records show
  Permission permissions = Permission::kNone;
  Face face = Face::kRest;
};

}  // namespace caisson::service
