#pragma once

#include <termios.h>

#include <optional>

#include "caisson/base/result.h"
#include "caisson/sandbox/command.h"

namespace caisson::cli {

// The terminal behind a descriptor in raw mode: every key is a byte for the command. Destroying it restores what was.
// Borrowed descriptor. Move-only. Source: termios(3).
class RawTerminal {
 public:
  // Errors: kInvalidArgument when `fd` is no terminal.
  static Result<RawTerminal> Enter(int fd);
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

 private:
  RawTerminal(int fd, const termios& saved) : fd_(fd), saved_(saved) {}
  int fd_;  // -1: moved from
  termios saved_;
};

bool IsTerminal(int fd);

// Errors: kInvalidArgument saying that --tty needs a terminal on standard input.
Status RequireTerminal(int fd);

// Rows and columns of a terminal; the usual 24 by 80 when it does not tell.
sandbox::TerminalSize SizeOfTerminal(int fd);

}  // namespace caisson::cli
