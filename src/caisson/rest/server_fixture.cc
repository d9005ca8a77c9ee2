#include "caisson/rest/server_fixture.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "caisson/rest/field_text.h"

namespace caisson::rest {
namespace {

constexpr int kPatienceMs = 30'000;

bool AwaitEvents(int fd, short events) {
  pollfd entry{fd, events, 0};
  int ready = 0;
  do {
    ready = poll(&entry, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

bool Client::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN && AwaitEvents(socket_.get(), POLLOUT)) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::size_t Client::SendSome(std::string_view bytes) {
  const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

bool Client::ReadMore() {
  std::array<char, 65536> buffer{};
  if (!AwaitEvents(socket_.get(), POLLIN)) return false;
  const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  in_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

std::string Client::ReceiveUntil(std::string_view text) {
  std::size_t at = 0;
  while ((at = in_.find(text)) == std::string::npos) {
    if (!ReadMore()) return {};
  }
  std::string taken = in_.substr(0, at + text.size());
  in_.erase(0, taken.size());
  return taken;
}

std::string Client::ReceiveAll() {
  while (ReadMore()) {
  }
  return std::exchange(in_, {});
}

bool Client::IsClosed() {
  pollfd entry{socket_.get(), POLLIN, 0};
  std::array<char, 4096> buffer{};
  while (poll(&entry, 1, kPatienceMs) > 0) {
    if (recv(socket_.get(), buffer.data(), buffer.size(), 0) <= 0) return true;
  }
  return false;
}

void Client::EndSending() { (void)shutdown(socket_.get(), SHUT_WR); }

Received Client::Receive(bool is_head) {
  Received received;
  const std::string head = ReceiveUntil("\r\n\r\n");
  if (head.size() < 12) return received;
  received.status = std::atoi(head.c_str() + 9);
  std::size_t at = head.find("\r\n") + 2;
  while (at < head.size() - 2) {
    const std::size_t end = head.find("\r\n", at);
    const std::string line = head.substr(at, end - at);
    const std::size_t colon = line.find(": ");
    received.fields[Lower(line.substr(0, colon))] = line.substr(colon + 2);
    at = end + 2;
  }
  if (received.status == 100) return Receive(is_head);
  if (is_head || received.status == 204) {
    received.is_whole = true;
    return received;
  }
  if (received.fields.contains("content-length")) {
    const std::size_t length = std::strtoul(received.fields["content-length"].c_str(), nullptr, 10);
    while (in_.size() < length && ReadMore()) {
    }
    received.body = in_.substr(0, length);
    received.is_whole = received.body.size() == length;
    in_.erase(0, received.body.size());
    return received;
  }
  while (true) {
    const std::string line = ReceiveUntil("\r\n");
    if (line.empty()) return received;
    const std::size_t size = std::strtoul(line.c_str(), nullptr, 16);
    while (in_.size() < size + 2 && ReadMore()) {
    }
    if (in_.size() < size + 2) return received;
    received.body += in_.substr(0, size);
    in_.erase(0, size + 2);
    if (size == 0) break;
  }
  received.is_whole = true;
  return received;
}

std::string RequestText(std::string_view method, std::string_view target, std::string_view fields,
                        std::string_view body) {
  std::string text(method);
  text.append(" ").append(target).append(" HTTP/1.1\r\n");
  if (fields.find("Host: ") == std::string_view::npos) text += "Host: localhost\r\n";
  text.append(fields);
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text.append("\r\n").append(body);
}

std::string JsonRequest(std::string_view method, std::string_view target, std::string_view body,
                        std::string_view fields) {
  return RequestText(method, target, "Content-Type: application/json\r\n" + std::string(fields), body);
}

ServerTest::ServerTest() {
  std::string pattern = std::filesystem::temp_directory_path() / "caisson-rest-XXXXXX";
  if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
}

ServerTest::~ServerTest() {
  service_.Release();
  server_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void ServerTest::Start(ServerLimits limits) {
  ServerOptions options;
  options.unix_socket = folder_ + "/s";
  options.tcp_port = 0;
  options.keys = {{"admin", HashOf(kKey), service::kOperator},
                  {"reader", HashOf(kReaderKey), service::Permission::kReadSandboxes}};
  options.limits = limits;
  options.version = "1.2.3";
  options.openapi = "{\"openapi\":\"3.1.0\"}";
  auto server = Server::Start(std::move(options), service_);
  ASSERT_TRUE(server) << server.error().message();
  server_ = std::move(*server);
}

Client ServerTest::Connect() {
  os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder_ + "/s";
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << errno;
  return Client(std::move(socket));
}

Client ServerTest::ConnectTcp() {
  os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server_->tcp_port());
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << errno;
  return Client(std::move(socket));
}

bool ServerTest::AwaitConnections(std::uint32_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (server_->connections() != count) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string ServerTest::HostField() const { return "Host: 127.0.0.1:" + std::to_string(server_->tcp_port()) + "\r\n"; }

}  // namespace caisson::rest
