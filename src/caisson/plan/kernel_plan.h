#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace caisson::plan {

// What the kernel lets a command do with files: Landlock rules, in words of our own. Rights add up; what no grant names
// is refused. Source: landlock(7).
using FileRights = std::uint32_t;
inline constexpr FileRights kExecuteFile = 1U << 0U;  // execve(2), being an interpreter too; takes kReadFile as well
inline constexpr FileRights kReadFile = 1U << 1U;
inline constexpr FileRights kReadFolder = 1U << 2U;
inline constexpr FileRights kWriteFile = 1U << 3U;  // of one that is there, and truncating it
// Files, folders, links, sockets and FIFOs; and moving there what may be removed where it is.
inline constexpr FileRights kCreateFile = 1U << 4U;
inline constexpr FileRights kRemoveFile = 1U << 5U;     // and folders
inline constexpr FileRights kDeviceControl = 1U << 6U;  // ioctl(2) of devices
inline constexpr FileRights kAllFileRights = (1U << 7U) - 1;

struct FileGrant {
  std::string
      path;  // absolute in the sandbox and through no link; one that is missing, or leads elsewhere, grants nothing
  FileRights rights = 0;
  // Whether the rights hold for everything below a folder. kItself: nothing is granted where it is a folder.
  enum class Reach : std::uint8_t { kItself, kBelow } reach = Reach::kBelow;
  bool operator==(const FileGrant&) const = default;
};

// What binds one command in the kernel beside what binds all of them.
struct KernelPlan {
  std::vector<FileGrant> grants;
  bool operator==(const KernelPlan&) const = default;
};

// A plan is sent whole, in one frame of the guest protocol.
inline constexpr std::size_t kMostGrants = 40'000;
inline constexpr std::size_t kMostGrantBytes = std::size_t{3} << 20U;

}  // namespace caisson::plan
