#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "caisson/client/endpoint.h"
#include "caisson/os/fd.h"

namespace caisson::client {

// For tests of the client: a node on a Unix socket of its own that answers each request, in the order in which they
// come, with the next answer of a script, and remembers what it was asked.
class ScriptedNode {
 public:
  enum class Then { kKeep, kClose };
  struct Answer {
    std::vector<std::string> pieces;  // each sent by itself
    Then then = Then::kKeep;
  };

  ScriptedNode();
  ~ScriptedNode();
  ScriptedNode(const ScriptedNode&) = delete;
  ScriptedNode& operator=(const ScriptedNode&) = delete;

  Endpoint endpoint() const;
  void Add(Answer answer);
  // A whole reply in one piece.
  void Add(int status, const std::string& body, const std::string& content_type = "application/json");
  // The requests so far, head and body as they came. Waits until there are `count`, at most 20 s.
  std::vector<std::string> Requests(std::size_t count);
  // Nobody listens any more, until Listen; connections that are there live on.
  void StopListening();
  void Listen();

 private:
  void Accept();
  void Serve(int connection);

  std::string folder_;
  os::Fd listener_;
  os::Fd stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Answer> answers_;
  std::vector<std::string> requests_;
  std::vector<os::Fd> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// "HTTP/1.1 200 OK" with these lines and a body whose length is told.
std::string ReplyText(int status, const std::string& body, const std::string& content_type = "application/json",
                      const std::string& more_lines = "");
// The head of a stream of events, whose body is chunked.
std::string EventStreamHead();
std::string Chunk(const std::string& bytes);

}  // namespace caisson::client
