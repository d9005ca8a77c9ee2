#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "caisson/plan/kernel_plan.h"
#include "caisson/policy/rule.h"

namespace caisson::policy {

// What the check and the compiler of policies both know about the kernel's side. Private to the two.

struct FileAction {
  Action action;
  plan::FileRights tree;  // what it grants below a folder
  plan::FileRights file;  // and of a single file
};
inline constexpr std::array<FileAction, 3> kFileActions = {{
    {Action::kFileRead, plan::kReadFile | plan::kReadFolder, plan::kReadFile},
    {Action::kFileWrite, plan::kWriteFile | plan::kCreateFile, plan::kWriteFile},
    {Action::kFileDelete, plan::kRemoveFile, 0},
}};

// What every command may read, since no program starts without it. The devices of a sandbox are harmless.
inline constexpr std::array<const char*, 3> kAlwaysRead = {"/etc", "/proc", "/dev"};

// What every command may write and remove: its own files of proc, and devices. Owners, modes and read-only mounts bind
// there.
struct BasicGrant {
  const char* folder;
  Action action;
  plan::FileRights rights;
};
inline constexpr std::array<BasicGrant, 4> kAlwaysWritten = {{
    {"/proc", Action::kFileWrite, plan::kWriteFile},
    {"/dev", Action::kFileWrite, plan::kWriteFile | plan::kDeviceControl},
    {"/dev/shm", Action::kFileWrite, plan::kCreateFile},
    {"/dev/shm", Action::kFileDelete, plan::kRemoveFile},
}};

bool Covers(const Rule& rule, Action action);
// It holds at some times only, or for some uses.
bool IsConditional(const Rule& rule);
bool HasWorkspacePrograms(const Rule& rule);
// The folder that a pattern cannot lead out of: of a glob, which only the tool can tell, the part before its first
// star.
std::string TreeOf(const PathPattern& pattern);

// Folders with whom each is of, to find the one that something lies in: in time that does not grow with their number.
class TreeSet {
 public:
  void Add(std::string folder, std::string whose) { trees_.emplace(std::move(folder), std::move(whose)); }

  struct Tree {
    std::string folder;
    std::string whose;
  };
  // The nearest one around `path`, which is not the same.
  std::optional<Tree> Around(std::string path) const;
  bool Has(const std::string& path) const { return trees_.contains(path) || Around(path); }

 private:
  std::map<std::string, std::string> trees_;
};

}  // namespace caisson::policy
