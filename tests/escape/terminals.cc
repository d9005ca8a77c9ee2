#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "caisson/os/fd.h"
#include "escape/probe.h"

namespace caisson::escape {
namespace {

constexpr unsigned long kHighBit = 1UL << 32U;
constexpr unsigned long kTiocLinux = 0x541cUL;

// Calls `act` on the slave side of a new pseudo-terminal that nobody else uses.
Outcome OnTerminal(const std::function<Outcome(int)>& act) {
  const os::Fd master(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master.valid() || ::unlockpt(master.get()) != 0) return NotRun("no pseudo-terminal");
  const os::Fd slave(::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave.valid()) return NotRun("no slave terminal");
  return act(slave.get());
}

Outcome Inject(unsigned long request) {
  return OnTerminal([request](int terminal) {
    char key = '#';
    return FromReturn(::syscall(SYS_ioctl, terminal, request, &key));
  });
}

Outcome InjectKey(const Context&) { return Inject(TIOCSTI); }
Outcome InjectKeyHighBit(const Context&) { return Inject(TIOCSTI | kHighBit); }

// ENOTTY: the kernel looked, and a pseudo-terminal has no console.
Outcome PasteSelection(unsigned long request) {
  return OnTerminal([request](int terminal) {
    char selection[16] = {3};
    return FromReturn(::syscall(SYS_ioctl, terminal, request, selection));
  });
}

Outcome PasteConsole(const Context&) { return PasteSelection(kTiocLinux); }
Outcome PasteConsoleHighBit(const Context&) { return PasteSelection(kTiocLinux | kHighBit); }

Outcome SetLineDiscipline(const Context&) {
  return OnTerminal([](int terminal) {
    int discipline = 0;  // N_TTY, which it already has
    return FromReturn(::syscall(SYS_ioctl, terminal, TIOCSETD, &discipline));
  });
}

// On a pipe: ENOTTY shows that the kernel looked, and the console's output stays where it is.
Outcome TakeConsole(const Context&) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return NotRun("no pipe");
  const os::Fd read_end(ends[0]);
  const os::Fd write_end(ends[1]);
  return FromReturn(::syscall(SYS_ioctl, write_end.get(), TIOCCONS, nullptr));
}

// The terminal that the probes were started on, which is standard input.
Outcome OnOwnTerminal(unsigned long request, char* argument) {
  if (::isatty(STDIN_FILENO) != 1) return NotRun("not started on a terminal");
  return FromReturn(::syscall(SYS_ioctl, STDIN_FILENO, request, argument));
}

// A line's end, which the terminal shows before the result instead of inside it.
Outcome TypeIntoOwnTerminal(const Context&) {
  char key = '\n';
  return OnOwnTerminal(TIOCSTI, &key);
}

Outcome PasteIntoOwnTerminal(const Context&) {
  char selection[16] = {3};
  return OnOwnTerminal(kTiocLinux, selection);
}

// `--terminal-device` is the file system of the caller's terminal, whose number no other on this kernel has.
Outcome HoldCallersTerminal(const Context& context) {
  const std::string* device = context.Find("terminal-device");
  if (device == nullptr) return NotRun("needs --terminal-device");
  for (int fd = 0; fd < 1024; ++fd) {
    struct stat status{};
    if (::fstat(fd, &status) == 0 && std::to_string(status.st_dev) == *device) {
      return Succeeded("descriptor " + std::to_string(fd));
    }
  }
  return Refused(ENOENT);
}

}  // namespace

Probes TerminalProbes() {
  return {
      {"tiocsti", "C6", "type into a terminal", InjectKey},
      {"tiocsti_high_bit", "C6", "type into a terminal, with bit 32 of the request set", InjectKeyHighBit},
      {"tioclinux", "C6", "paste into a console", PasteConsole},
      {"tioclinux_high_bit", "C6", "paste into a console, with bit 32 of the request set", PasteConsoleHighBit},
      {"tiocsetd", "C6", "set a line discipline", SetLineDiscipline},
      {"tioccons", "C6", "take the console's output", TakeConsole},
      {"own_terminal_type", "C6", "type into the terminal it was started on", TypeIntoOwnTerminal},
      {"own_terminal_paste", "C6", "paste into the terminal it was started on", PasteIntoOwnTerminal},
      {"caller_terminal", "C6", "hold the terminal of its starter", HoldCallersTerminal},
  };
}

}  // namespace caisson::escape
