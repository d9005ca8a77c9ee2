#include "caisson/daemon/daemon.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <memory>

#include "caisson/api/openapi.h"
#include "caisson/base/utf8.h"
#include "caisson/daemon/options.h"
#include "caisson/daemon/supervisor.h"
#include "caisson/os/poll.h"
#include "caisson/rest/listener.h"
#include "caisson/rest/server.h"
#include "caisson/sandbox/sandboxes.h"
#include "caisson/service/node_service.h"
#include "caisson/state/only_daemon.h"

#ifndef CAISSON_VERSION
#define CAISSON_VERSION "0.1.0"
#endif

namespace caisson::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kUsage = 2;
constexpr int kFailed = 3;
constexpr int kLookEveryMs = 1000;
// Descriptors of a sandbox, and those that everything else takes.
constexpr rlim_t kFdsOfASandbox = 16;
constexpr rlim_t kFdsOfACommand = 20;
constexpr rlim_t kOtherFds = 1400;

int Say(const Error& error, int status) {
  std::cerr << "caisson: " << Printable(error.message()) << "\n";
  if (!error.cause().empty()) std::cerr << "  why: " << Printable(error.cause()) << "\n";
  if (!error.remediation().empty()) std::cerr << "  what to do: " << Printable(error.remediation()) << "\n";
  return status;
}

// As many sandboxes and commands as there are descriptors for.
service::NodeLimits LimitsOfThisHost() {
  service::NodeLimits limits;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return limits;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
  const rlim_t free = files.rlim_cur > kOtherFds ? files.rlim_cur - kOtherFds : 0;
  limits.commands = static_cast<std::uint32_t>(std::min<rlim_t>(limits.commands, free / 8 / kFdsOfACommand));
  const rlim_t left = free - limits.commands * kFdsOfACommand;
  limits.sandboxes = static_cast<std::uint32_t>(std::min<rlim_t>(limits.sandboxes, left / kFdsOfASandbox));
  return limits;
}

std::vector<rest::ApiKey> KeysOfEnvironment() {
  const char* const key = getenv("CAISSON_KEY");
  std::vector<rest::ApiKey> keys;
  if (key != nullptr && *key != '\0') keys.push_back({"key", rest::HashOf(key), service::kOperator});
  unsetenv("CAISSON_KEY");
  return keys;
}

Result<os::Fd> BlockSignals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal_number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ending, signal_number);
  os::Fd signals(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid() || pthread_sigmask(SIG_BLOCK, &ending, nullptr) != 0) {
    return Fail(Error::FromErrno(errno, "cannot wait for signals"));
  }
  return signals;
}

// Until somebody wants the daemon's end. Empty: it was asked to; otherwise why it cannot go on.
std::string AwaitEnd(const os::Fd& signals, const os::Fd& lost, const Options& options,
                     const service::NodeService& service, const rest::Server& server) {
  Clock::time_point last_used = Clock::now();
  while (true) {
    std::array<pollfd, 2> entries{{{signals.get(), POLLIN, 0}, {lost.get(), POLLIN, 0}}};
    (void)poll(entries.data(), entries.size(), kLookEveryMs);
    if (entries[1].revents != 0) return "the launcher has ended, and every sandbox with it";
    if (entries[0].revents != 0) return {};
    const auto now = Clock::now();
    if (service.CountSandboxes() != 0 || server.connections() != 0) last_used = now;
    if (options.idle_exit && now - last_used >= *options.idle_exit) return {};
  }
}

Result<std::string> Serve(const Options& options, const std::string& program_directory) {
  const service::NodeLimits limits = LimitsOfThisHost();
  std::vector<os::Fd> listeners = TakeListeners();
  const std::string notify = TakeNotifySocket();
  std::vector<rest::ApiKey> keys = KeysOfEnvironment();
  CAISSON_TRY(const os::Fd signals, BlockSignals());

  sandbox::EngineOptions engine;
  engine.program_directory = program_directory;
  engine.data_directory = options.data_directory;
  engine.runtime_directory = options.runtime_directory;
  CAISSON_TRY(const os::Fd state_folder, sandbox::Sandboxes::OpenStateFolder(engine));
  CAISSON_TRY(const state::OnlyDaemon only, state::OnlyDaemon::Take(state_folder));
  CAISSON_TRY(const auto sandboxes, sandbox::Sandboxes::StartOrTakeOver(engine));
  if (listeners.empty()) {
    CAISSON_TRY(rest::Listener listener, rest::ListenUnix(options.socket));
    listeners.push_back(std::move(listener.socket));
  }
  CAISSON_CHECK_OK(sandboxes->GiveUpPrivileges());

  CAISSON_TRY(const auto database, state::Database::Open(state_folder, {}));
  const os::Fd lost(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  CAISSON_TRY(const auto service, service::NodeService::Start(*database, *sandboxes, limits, [&lost] {
                const std::uint64_t one = 1;
                (void)!write(lost.get(), &one, sizeof one);
              }));
  rest::ServerOptions server_options;
  server_options.inherited = std::move(listeners);
  server_options.tcp_port = options.tcp_port;
  server_options.keys = std::move(keys);
  server_options.version = CAISSON_VERSION;
  server_options.openapi = api::OpenApiJson();
  CAISSON_TRY(const auto server, rest::Server::Start(std::move(server_options), *service));
  if (options.tcp_port) std::cerr << "caisson: answers at http://127.0.0.1:" << server->tcp_port() << "\n";
  Notify(notify, "READY=1");
  std::string why = AwaitEnd(signals, lost, options, *service, *server);
  Notify(notify, "STOPPING=1");
  server->Stop();
  return why;
}

}  // namespace

int RunDaemon(const std::vector<std::string>& arguments, const std::string& program_directory) {
  // The C library gives each thread an arena, which keeps what a large answer once took: with 16 workers three quarters
  // of the memory.
  mallopt(M_ARENA_MAX, 2);
  const auto options = ReadOptions(arguments);
  if (!options) return Say(options.error(), kUsage);
  const auto why = Serve(*options, program_directory);
  if (!why) return Say(why.error(), kFailed);
  if (why->empty()) return 0;
  return Say(Error(Code::kUnavailable, *why).Remedy("start the daemon again"), kFailed);
}

}  // namespace caisson::daemon
