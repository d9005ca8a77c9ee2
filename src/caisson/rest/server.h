#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/rest/access.h"
#include "caisson/rest/limits.h"
#include "caisson/service/service.h"

namespace caisson::rest {

struct ServerOptions {
  std::string unix_socket;                // a path; empty: none
  std::vector<os::Fd> inherited;          // listening sockets of another process
  std::optional<std::uint16_t> tcp_port;  // on 127.0.0.1; 0: the kernel chooses
  std::vector<ApiKey> keys;               // who may come over TCP; without one there is no TCP
  ServerLimits limits;
  std::string version;       // of this program
  std::string_view openapi;  // the description of the interface; outlives the server
};

// Answers HTTP/1.1 for a service: one thread for all connections, others for the calls. Whoever can open a Unix socket
// is an operator, named by uid; over TCP a key says who it is. Thread-safe.
class Server {
 public:
  // `service` outlives the server. Errors: kInvalidArgument (nothing to listen on; TCP without a key), and those of
  // making the sockets.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, service::Service& service);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Stops.
  ~Server();

  // Takes no new connection, closes idle ones and streams, lets requests finish for `limits.stop_time` and then drops
  // them. A call of the service that runs is waited for, however long. Again: nothing happens.
  void Stop();

  // The port of the first TCP socket; 0 without one.
  std::uint16_t tcp_port() const;
  // How many connections there are now.
  std::uint32_t connections() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace caisson::rest
