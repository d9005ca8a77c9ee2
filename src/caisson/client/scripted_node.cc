#include "caisson/client/scripted_node.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "caisson/os/poll.h"

namespace caisson::client {
namespace {

[[noreturn]] void Fatal(const char* what) {
  std::perror(what);
  std::abort();
}

// The length that a head tells, 0 without one.
std::size_t BodyLength(const std::string& head) {
  const std::size_t at = head.find("Content-Length: ");
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
}

// One request from the front of `buffer`, reading more as needed; empty at the end of the connection.
std::string NextRequest(int connection, std::string& buffer) {
  while (true) {
    const std::size_t end = buffer.find("\r\n\r\n");
    if (end != std::string::npos) {
      const std::size_t length = end + 4 + BodyLength(buffer.substr(0, end + 2));
      if (buffer.size() >= length) {
        std::string request = buffer.substr(0, length);
        buffer.erase(0, length);
        return request;
      }
    }
    std::array<char, 65536> piece{};
    const ssize_t came = recv(connection, piece.data(), piece.size(), 0);
    if (came <= 0) return {};
    buffer.append(piece.data(), static_cast<std::size_t>(came));
  }
}

}  // namespace

ScriptedNode::ScriptedNode() {
  std::string pattern = std::filesystem::temp_directory_path() / "node.XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) Fatal("mkdtemp");
  folder_ = pattern;
  Listen();
}

ScriptedNode::~ScriptedNode() {
  StopListening();
  {
    const std::lock_guard lock(mutex_);
    for (const os::Fd& connection : connections_) shutdown(connection.get(), SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  std::filesystem::remove_all(folder_);
}

Endpoint ScriptedNode::endpoint() const {
  Endpoint endpoint;
  endpoint.path = folder_ + "/s";
  endpoint.host = "localhost";
  return endpoint;
}

void ScriptedNode::Listen() {
  listener_ = os::Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  endpoint().path.copy(name.sun_path, sizeof name.sun_path - 1);
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) Fatal("bind");
  if (listen(listener_.get(), 16) != 0) Fatal("listen");
  stop_ = os::Fd(eventfd(0, EFD_CLOEXEC));
  acceptor_ = std::thread([this] { Accept(); });
}

void ScriptedNode::StopListening() {
  if (!acceptor_.joinable()) return;
  (void)eventfd_write(stop_.get(), 1);
  acceptor_.join();
  listener_.Reset();
  std::filesystem::remove(endpoint().path);
}

void ScriptedNode::Accept() {
  while (true) {
    std::array<pollfd, 2> entries = {pollfd{listener_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
    if (!os::Poll(entries, -1) || entries[1].revents != 0) return;
    os::Fd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) continue;
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, fd = connection.get()] { Serve(fd); });
    connections_.push_back(std::move(connection));
  }
}

void ScriptedNode::Serve(int connection) {
  std::string buffer;
  while (true) {
    const std::string request = NextRequest(connection, buffer);
    if (request.empty()) return;
    Answer answer;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      answer = {{ReplyText(500, "no answer is left")}, Then::kClose};
      if (!answers_.empty()) {
        answer = std::move(answers_.front());
        answers_.pop_front();
      }
    }
    changed_.notify_all();
    for (const std::string& piece : answer.pieces) (void)send(connection, piece.data(), piece.size(), MSG_NOSIGNAL);
    if (answer.then == Then::kClose) {
      shutdown(connection, SHUT_RDWR);
      return;
    }
  }
}

void ScriptedNode::Add(Answer answer) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(answer));
}

void ScriptedNode::Add(int status, const std::string& body, const std::string& content_type) {
  Add({{ReplyText(status, body, content_type)}});
}

std::vector<std::string> ScriptedNode::Requests(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(20), [&] { return requests_.size() >= count; });
  return requests_;
}

std::string ReplyText(int status, const std::string& body, const std::string& content_type,
                      const std::string& more_lines) {
  std::ostringstream text;
  text << "HTTP/1.1 " << status << " Reason\r\nContent-Type: " << content_type << "\r\n" << more_lines;
  text << "Content-Length: " << body.size() << "\r\n\r\n" << body;
  return text.str();
}

std::string EventStreamHead() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string Chunk(const std::string& bytes) {
  std::ostringstream text;
  text << std::hex << bytes.size() << "\r\n" << bytes << "\r\n";
  return text.str();
}

}  // namespace caisson::client
