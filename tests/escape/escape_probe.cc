// One forbidden act by name, or all of them. See README.md.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "escape/probe.h"
#include "escape/report.h"

namespace caisson::escape {
namespace {

constexpr int kExitUsage = 2;

Probes AllProbes() {
  Probes all;
  for (const auto& group :
       {FileProbes,    ProcProbes,    InitProbes,  FdProbes,      UserProbes,    NamespaceProbes, CgroupProbes,
        BadCallProbes, SeccompProbes, ModeProbes,  MemfdProbes,   SocketProbes,  TerminalProbes,  LandlockProbes,
        HostProbes,    DeviceProbes,  AliasProbes, SiblingProbes, NetworkProbes, RaceProbes,      ResourceProbes}) {
    Probes probes = group();
    std::move(probes.begin(), probes.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<int> OpenFdsAboveStdio() {
  std::vector<int> open;
  for (int fd = 3; fd < 4096; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) open.push_back(fd);
  }
  return open;
}

int Usage() {
  std::fputs(
      "usage: escape_probe --list\n"
      "       escape_probe --all [--KEY=VALUE ...]\n"
      "       escape_probe NAME [--KEY=VALUE ...]\n"
      "       escape_probe --crash\n"
      "       escape_probe --is-not-uid UID\n",
      stderr);
  return kExitUsage;
}

int List() {
  for (const Probe& probe : AllProbes()) {
    std::printf("%s\t%s\t%s\n", probe.name.c_str(), probe.catalogue.c_str(), probe.act.c_str());
  }
  return 0;
}

// Dies the way a broken program does, so that the kernel looks for a handler of core dumps.
[[noreturn]] void Crash() {
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
  ::_exit(1);
}

int Main(int count, char** arguments) {
  Context context;
  context.set_inherited_fds(OpenFdsAboveStdio());
  if (count < 2) return Usage();
  const std::string command = arguments[1];
  if (command == "--list") return List();
  if (command == "--crash") Crash();
  // Run from a setuid program or a memfd, this tells its starter whether it gained a user.
  if (command == "--is-not-uid") return count == 3 && std::to_string(::geteuid()) != arguments[2] ? 0 : 1;
  for (int i = 2; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string_view::npos) return Usage();
    context.Set(std::string(argument.substr(2, equals - 2)), std::string(argument.substr(equals + 1)));
  }
  const Probes all = AllProbes();
  if (command == "--all") return RunAll(all, context);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Probe& probe) { return probe.name == command; });
  if (found == all.end()) return Usage();
  return RunOne(*found, context);
}

}  // namespace
}  // namespace caisson::escape

int main(int argc, char** argv) { return caisson::escape::Main(argc, argv); }
