#include "caisson/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace caisson::cli {

Result<RawTerminal> RawTerminal::Enter(int fd) {
  termios saved{};
  CAISSON_CHECK_OK(RequireTerminal(fd));
  if (tcgetattr(fd, &saved) != 0) return Fail(Error::FromErrno(errno, "cannot read the terminal's mode"));
  RawTerminal terminal(fd, saved);
  termios raw = saved;
  cfmakeraw(&raw);
  if (tcsetattr(fd, TCSADRAIN, &raw) != 0)
    return Fail(Error::FromErrno(errno, "cannot put the terminal into raw mode"));
  return terminal;
}

RawTerminal::RawTerminal(RawTerminal&& other) noexcept : fd_(std::exchange(other.fd_, -1)), saved_(other.saved_) {}

RawTerminal::~RawTerminal() {
  // Not TCSADRAIN, which would wait for a terminal that nobody reads.
  if (fd_ >= 0) tcsetattr(fd_, TCSANOW, &saved_);
}

bool IsTerminal(int fd) { return isatty(fd) == 1; }

Status RequireTerminal(int fd) {
  if (IsTerminal(fd)) return {};
  return Fail(Error(Code::kInvalidArgument, "--tty needs a terminal on standard input")
                  .Because("standard input is not a terminal")
                  .Remedy("leave --tty out, or start caisson from a terminal"));
}

sandbox::TerminalSize SizeOfTerminal(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

}  // namespace caisson::cli
