#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"

namespace caisson::os {

// Where the programs of an image are looked up: the PATH of a command that may run nothing else.
inline constexpr std::array<const char*, 6> kSearchFolders = {"/usr/local/bin",  "/usr/bin",  "/bin",
                                                              "/usr/local/sbin", "/usr/sbin", "/sbin"};
std::string SearchPath();  // the same as a variable's value

// The folders that hold an image's programs and nothing that a command writes: in a sandbox that may run nothing but
// programs of its image, all others are mounted noexec.
inline constexpr const char* kProgramFolders[] = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt"};

// What can be executed in an image, as far as its own files tell. Paths are absolute and lead through no link.
struct ProgramIndex {
  // An executable file that a folder of the search path names.
  struct Entry {
    std::string path;         // "/usr/bin/pip"
    std::string real_path;    // with all links followed
    std::string interpreter;  // of a script, with links followed; empty: a program
    std::string argument;     // of a script: the first word after the interpreter
    bool operator==(const Entry&) const = default;
  };
  std::multimap<std::string, Entry> by_name;  // of one name: in the order of the search path
  std::vector<std::string> programs;          // every ELF program, static or not, executable or not; sorted
  std::vector<std::string> loaders;           // what their PT_INTERP leads to; sorted
  // What is in the root and in each folder with a program in it or below it, so that rights can be given around
  // programs. Links are left out.
  std::map<std::string, std::vector<std::string>> split;
  std::vector<std::string> roots;  // the program folders that are there
  bool operator==(const ProgramIndex&) const = default;
};

// Looks through the program folders below the calling process's root. It takes some seconds for 10^6 files. Errors:
// kResourceExhausted beyond 4 million entries or 100 folders inside each other. What cannot be opened is passed over:
// the caller may not execute or read it either.
Result<ProgramIndex> IndexPrograms();

}  // namespace caisson::os
