#include "caisson/rest/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <mutex>
#include <thread>

#include "caisson/rest/connection.h"
#include "caisson/rest/core.h"
#include "caisson/rest/listener.h"

namespace caisson::rest {

namespace asio = boost::asio;
using boost::system::error_code;
using Descriptor = asio::posix::stream_descriptor;

namespace {

constexpr int kAcceptedAtOnce = 64;
constexpr std::uint32_t kMostRefusing = 64;
constexpr std::chrono::milliseconds kWithoutDescriptors{100};

// After it the next one may be taken at once.
bool IsPassing(int errno_value) { return errno_value == EINTR || errno_value == ECONNABORTED; }

}  // namespace

struct Server::State {
  State(const ServerOptions& options, service::Service& service, std::string the_version)
      : version(std::move(the_version)),
        core(options.limits, Node{service, version, options.openapi, options.limits.stream_piece}, options.keys),
        guard(core.io.get_executor()) {}

  void Run();
  Awaitable<void> Accept(const Listener& listener, Descriptor& arrivals);
  void Take(os::Fd socket, const Listener& listener);
  void BeginStop();

  const std::string version;
  Core core;
  asio::executor_work_guard<asio::io_context::executor_type> guard;
  std::vector<Listener> listeners;
  std::vector<Descriptor> arrivals;  // of each listener
  std::thread thread;
  std::once_flag stopped;
};

Awaitable<void> Server::State::Accept(const Listener& listener, Descriptor& descriptor) {
  asio::steady_timer pause(core.io);
  while (!core.stopping) {
    error_code ec;
    co_await descriptor.async_wait(Descriptor::wait_read, asio::redirect_error(asio::use_awaitable, ec));
    if (ec || core.stopping) co_return;
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      os::Fd socket(accept4(descriptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.valid()) {
        Take(std::move(socket), listener);
        continue;
      }
      const int reason = errno;
      if (IsPassing(reason)) continue;
      if (reason == EAGAIN) break;
      // Without descriptors or memory: those that arrive wait, and the thread must not spin.
      pause.expires_after(kWithoutDescriptors);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
      break;
    }
  }
}

void Server::State::Take(os::Fd socket, const Listener& listener) {
  auto door = DoorOf(listener, socket.get());
  if (!door) return;
  if (listener.kind == Door::Kind::kTcp) {
    const int on = 1;
    (void)setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const int family = listener.kind == Door::Kind::kTcp ? AF_INET : AF_UNIX;
  error_code ec;
  Socket taken(core.io);
  ec = taken.assign(asio::generic::stream_protocol(family, 0), socket.get(), ec);
  if (ec) return;
  (void)socket.Release();
  auto connection = std::make_shared<Connection>(core, std::move(taken), std::move(*door));
  if (core.connections.size() >= core.limits.connections && !core.idle.empty()) core.idle.front()->GiveWay();
  if (core.connections.size() >= core.limits.connections) {
    if (core.refusing >= kMostRefusing) return;
    ++core.refusing;
    asio::co_spawn(core.io, Connection::TurnAway(std::move(connection)), asio::detached);
    return;
  }
  core.connections.insert(connection.get());
  core.count = static_cast<std::uint32_t>(core.connections.size());
  asio::co_spawn(core.io, Connection::Serve(std::move(connection)), asio::detached);
}

void Server::State::Run() {
  for (Listener& listener : listeners) arrivals.emplace_back(core.io, listener.socket.Release());
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    asio::co_spawn(core.io, Accept(listeners[i], arrivals[i]), asio::detached);
  }
  thread = std::thread([this] { core.io.run(); });
}

void Server::State::BeginStop() {
  core.stopping = true;
  for (Descriptor& descriptor : arrivals) {
    error_code ignored;
    ignored = descriptor.close(ignored);
  }
  for (const Listener& listener : listeners) RemoveSocketFile(listener);
  const std::vector<Connection*> open(core.connections.begin(), core.connections.end());
  for (Connection* connection : open) connection->Stop();
  if (core.connections.empty()) return;
  core.stop_timer.expires_after(core.limits.stop_time);
  core.stop_timer.async_wait([this](error_code ec) {
    if (ec) return;
    for (Connection* connection : core.connections) connection->Abort();
  });
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { Stop(); }

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, service::Service& service) {
  std::vector<Listener> listeners;
  for (os::Fd& socket : options.inherited) {
    CAISSON_TRY(Listener listener, AdoptListener(std::move(socket)));
    listeners.push_back(std::move(listener));
  }
  if (options.tcp_port) {
    CAISSON_TRY(Listener listener, ListenLoopback(*options.tcp_port));
    listeners.push_back(std::move(listener));
  }
  for (const Listener& listener : listeners) {
    if (listener.kind != Door::Kind::kTcp || !options.keys.empty()) continue;
    return Fail(Error(Code::kInvalidArgument, "there is no key")
                    .Because("over TCP anybody on this machine could ask anything")
                    .Remedy("give at least one key, or use a Unix socket"));
  }
  if (!options.unix_socket.empty()) {
    CAISSON_TRY(Listener listener, ListenUnix(options.unix_socket));
    listeners.push_back(std::move(listener));
  }
  if (listeners.empty()) return Fail(Error(Code::kInvalidArgument, "there is nothing to listen on"));
  auto state = std::make_unique<State>(options, service, options.version);
  state->listeners = std::move(listeners);
  state->Run();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

void Server::Stop() {
  std::call_once(state_->stopped, [this] {
    state_->core.mailbox->Post([state = state_.get()] { state->BeginStop(); });
    state_->guard.reset();
    state_->thread.join();
    state_->core.mailbox->Close();
  });
}

std::uint16_t Server::tcp_port() const {
  for (const Listener& listener : state_->listeners) {
    if (listener.kind == Door::Kind::kTcp) return listener.port;
  }
  return 0;
}

std::uint32_t Server::connections() const { return state_->core.count; }

}  // namespace caisson::rest
