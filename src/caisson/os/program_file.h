#pragma once

#include <cstdint>
#include <string>

namespace caisson::os {

// What execve(2) or the dynamic loader could make of a file. kLibrary: an ELF object that others link against and that
// is no program of its own, though some (libc.so.6) print a line about themselves when they are executed.
enum class ProgramKind : std::uint8_t { kNone, kScript, kLibrary, kProgram };

struct ProgramFile {
  ProgramKind kind = ProgramKind::kNone;
  std::string interpreter;  // of a program: its PT_INTERP, empty when it is static; of a script: what follows #!
  std::string argument;     // of a script: the first word after the interpreter
};

// Reads the beginning of a regular file, which may hold anything: at most about 140 KiB. A file that is not what it
// says, and one that cannot be read, is kNone. Source: elf(5), execve(2).
ProgramFile ReadProgramFile(int fd);

}  // namespace caisson::os
