#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "caisson/base/deadline.h"
#include "caisson/os/fd.h"
#include "caisson/proto/guest.pb.h"
#include "caisson/sandbox/captured_output.h"

namespace caisson::sandbox {

// Bytes on their way: appended at the end, consumed at the front.
class PendingBytes {
 public:
  bool empty() const { return consumed_ == bytes_.size(); }
  std::string_view view() const { return std::string_view(bytes_).substr(consumed_); }
  void Append(std::string_view data) {
    if (empty()) {
      bytes_.clear();
      consumed_ = 0;
    }
    bytes_.append(data);
  }
  void Consume(std::size_t count) { consumed_ += count; }

 private:
  std::string bytes_;
  std::size_t consumed_ = 0;
};

// One direction of output: from a command's pipe or terminal into a capture and, when connected, to a host descriptor.
// Reads no more than the host has taken, so that a command that writes faster than its reader waits like in a shell.
class OutputStream {
 public:
  // `source` is made non-blocking. `host_fd` is borrowed, -1: not connected.
  OutputStream(os::Fd source, int host_fd, OutputCapture capture);

  bool open() const { return source_.valid(); }
  bool wants_read() const { return source_.valid() && pending_.empty(); }
  bool wants_write() const { return !pending_.empty(); }
  int source_fd() const { return source_.get(); }
  int host_fd() const { return host_fd_; }
  // One read; closes at the end. Returns false when there was nothing to read now.
  bool Read();
  // One write to the host that does not block, after poll said so. When the host's reader is gone the stream closes.
  void Write();
  // Reads what is in the pipe now, without the host's waiting rules. Closes at the end, and when much was taken.
  void Drain();
  void Close() { source_.Reset(); }
  CapturedOutput Take() && { return std::move(capture_).Take(); }

 private:
  os::Fd source_;
  int host_fd_;
  PendingBytes pending_;
  OutputCapture capture_;
  std::size_t drained_ = 0;
};

// The other direction: from a host descriptor to the command's standard input.
class InputStream {
 public:
  // Without a host (-1) the command's input ends at once.
  InputStream(os::Fd sink, int host_fd, bool is_terminal);
  // Content instead of a host descriptor.
  InputStream(os::Fd sink, std::string_view content);

  bool wants_read() const { return sink_.valid() && host_fd_ >= 0 && pending_.empty(); }
  bool wants_write() const { return sink_.valid() && !pending_.empty(); }
  int host_fd() const { return host_fd_; }
  int sink_fd() const { return sink_.get(); }
  void Read();
  void Write();
  void Close() { sink_.Reset(); }
  // True when at `now` the command has been given everything the host has, nothing has come for a while, and the input
  // has not ended. A while: on a busy host a writer that never stops may find no processor for some time.
  bool Idle(Deadline::Clock::time_point now) const;

 private:
  os::Fd sink_;
  int host_fd_;
  bool is_terminal_ = false;
  PendingBytes pending_;
  Deadline::Clock::time_point silent_from_;  // the last bytes count as just given until then
};

// Moves the data of one command until its own process has ended.
class CommandPump {
 public:
  struct Ended {
    proto::End end;
  };
  struct Interrupted {};
  struct Expired {};
  struct Lost {};  // the guest died without a word
  using Event = std::variant<Ended, Interrupted, Expired, Lost>;

  CommandPump(os::Fd& end, InputStream input, OutputStream out, std::optional<OutputStream> err, int interrupt_fd)
      : end_(end), input_(std::move(input)), out_(std::move(out)), err_(std::move(err)), interrupt_fd_(interrupt_fd) {}

  // Runs until something happens that the caller decides about. Callable again after Interrupted and Expired.
  Event Run(const Deadline& deadline);
  // After the end: takes what is left in the pipes, and what LastOutput waits for, and hands it to the host. Returns
  // early when interrupted.
  void Finish();

  // Our end of the command's input when more could come but at `now` nothing has for a while; -1 otherwise. Borrowed.
  int IdleInput(Deadline::Clock::time_point now) const { return input_.Idle(now) ? input_.sink_fd() : -1; }

  CapturedOutput TakeOut() { return std::move(out_).Take(); }
  CapturedOutput TakeErr() { return err_ ? std::move(*err_).Take() : CapturedOutput{}; }

 private:
  std::optional<Event> ReadEnd();

  os::Fd& end_;
  InputStream input_;
  OutputStream out_;
  std::optional<OutputStream> err_;
  int interrupt_fd_;
};

}  // namespace caisson::sandbox
