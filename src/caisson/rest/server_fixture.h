#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/os/fd.h"
#include "caisson/rest/memory_service.h"
#include "caisson/rest/server.h"

namespace caisson::rest {

// What came back for one request.
struct Received {
  int status = 0;                             // 0: the connection ended before
  std::map<std::string, std::string> fields;  // names in small letters
  std::string body;                           // without the framing of chunks
  bool is_whole = false;                      // the body came to its end
};

// A client that sends exactly the bytes it is told, and waits at most 30 s for anything.
class Client {
 public:
  explicit Client(os::Fd socket) : socket_(std::move(socket)) {}

  bool Send(std::string_view bytes);
  // Sends what the other side takes at once; how much that was.
  std::size_t SendSome(std::string_view bytes);
  Received Receive(bool is_head = false);
  Received Ask(std::string_view bytes) {
    (void)Send(bytes);
    return Receive(bytes.starts_with("HEAD "));
  }
  // Everything until the other side ends the connection.
  std::string ReceiveAll();
  // Until `text` has come; what came. Empty when the connection ends before.
  std::string ReceiveUntil(std::string_view text);
  // True when the other side has ended the connection, at the latest after the 30 s.
  bool IsClosed();
  void EndSending();
  void Close() { socket_.Reset(); }
  int fd() const { return socket_.get(); }

 private:
  bool ReadMore();
  os::Fd socket_;
  std::string in_;
};

// "GET /x HTTP/1.1", a field Host, further fields and a body with its length.
std::string RequestText(std::string_view method, std::string_view target, std::string_view fields = "",
                        std::string_view body = "");
// With `Content-Type: application/json`.
std::string JsonRequest(std::string_view method, std::string_view target, std::string_view body,
                        std::string_view fields = "");

// A server on a Unix socket, and with a key on TCP.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest();
  ServerTest(const ServerTest&) = delete;
  ServerTest& operator=(const ServerTest&) = delete;
  ~ServerTest() override;

  void Start(ServerLimits limits = {});
  Client Connect();
  Client ConnectTcp();
  Received Ask(std::string_view bytes) { return Connect().Ask(bytes); }
  // Until the server has so many connections; false after 30 s.
  bool AwaitConnections(std::uint32_t count);
  std::string HostField() const;

  std::string folder_;
  MemoryService service_;
  std::unique_ptr<Server> server_;
};

inline constexpr const char* kKey = "test-key-0123456789";
inline constexpr const char* kReaderKey = "test-key-that-reads";

}  // namespace caisson::rest
