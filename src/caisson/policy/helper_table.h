#pragma once

#include <string_view>
#include <vector>

namespace caisson::policy {

// What the well-known programs start by themselves and do not work without: names that are looked up as a command is,
// and folders ("/usr/lib/git-core/**") or files ("/usr/lib/gcc/*/cc1") of programs. The kernel lets a helper run; it is
// no command that a tool takes.
std::vector<std::string_view> HelpersOf(std::string_view program);

// Every command may start the shells: they can do nothing that the rules about files and programs do not allow.
inline constexpr std::string_view kShells[] = {"bash", "sh"};

}  // namespace caisson::policy
