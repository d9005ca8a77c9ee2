#include "caisson/sandbox/command_pump.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <vector>

#include "caisson/sandbox/command_verdict.h"
#include "caisson/sandbox/last_output.h"

namespace caisson::sandbox {
namespace {

constexpr std::size_t kChunk = 64U << 10U;
// More than the largest pipe an unprivileged process can make.
constexpr std::size_t kDrainLimit = 2U << 20U;
// How long an input must have been silent before its reader is said to wait for it.
constexpr std::chrono::milliseconds kSilence{250};

// What to poll, with the action for each entry that is ready.
class PollSet {
 public:
  void Add(int fd, short events, std::function<void()> action) {
    entries_.push_back({fd, events, 0});
    actions_.push_back(std::move(action));
  }
  // False when the deadline passed without anything being ready.
  bool Wait(const Deadline& deadline) {
    const int n = poll(entries_.data(), entries_.size(), deadline.PollTimeout());
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].revents != 0) actions_[i]();
    }
    return true;
  }

 private:
  std::vector<pollfd> entries_;
  std::vector<std::function<void()>> actions_;
};

}  // namespace

OutputStream::OutputStream(os::Fd source, int host_fd, OutputCapture capture)
    : source_(std::move(source)), host_fd_(host_fd), capture_(std::move(capture)) {
  if (source_.valid()) os::SetNonBlocking(source_.get());
}

bool OutputStream::Read() {
  std::array<char, kChunk> buffer;
  const ssize_t n = read(source_.get(), buffer.data(), buffer.size());
  if (n > 0) {
    const std::string_view data(buffer.data(), static_cast<std::size_t>(n));
    capture_.Append(data);
    if (host_fd_ >= 0) pending_.Append(data);
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  source_.Reset();  // the end; a terminal says EIO
  return false;
}

void OutputStream::Write() {
  // poll promises room for this much and no more: a longer write could block on the host's behalf.
  const std::string_view data = pending_.view().substr(0, PIPE_BUF);
  const ssize_t n = write(host_fd_, data.data(), data.size());
  if (n > 0) pending_.Consume(static_cast<std::size_t>(n));
  if (n >= 0 || errno == EAGAIN || errno == EINTR) return;
  // The reader is gone: so is the command's, which learns it as in a shell, by SIGPIPE.
  pending_ = {};
  source_.Reset();
}

void OutputStream::Drain() {
  while (source_.valid() && drained_ < kDrainLimit) {
    if (!Read()) return;
    drained_ += kChunk;
  }
  source_.Reset();
}

InputStream::InputStream(os::Fd sink, int host_fd, bool is_terminal)
    : sink_(std::move(sink)), host_fd_(host_fd), is_terminal_(is_terminal) {
  if (sink_.valid()) os::SetNonBlocking(sink_.get());
  if (host_fd_ < 0 && !is_terminal_) sink_.Reset();
}

InputStream::InputStream(os::Fd sink, std::string_view content) : sink_(std::move(sink)), host_fd_(-1) {
  pending_.Append(content);
  if (sink_.valid()) os::SetNonBlocking(sink_.get());
  if (pending_.empty()) sink_.Reset();
}

void InputStream::Read() {
  std::array<char, kChunk> buffer;
  const ssize_t n = read(host_fd_, buffer.data(), buffer.size());
  if (n > 0) {
    pending_.Append({buffer.data(), static_cast<std::size_t>(n)});
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    host_fd_ = -1;
    if (is_terminal_) {
      pending_.Append("\x04");  // a terminal has no other way to say that the input ended
    } else {
      sink_.Reset();
    }
  }
}

void InputStream::Write() {
  const std::string_view data = pending_.view();
  const ssize_t n = write(sink_.get(), data.data(), data.size());
  if (n > 0) {
    pending_.Consume(static_cast<std::size_t>(n));
    silent_from_ = Deadline::Clock::now() + kSilence;
  }
  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    sink_.Reset();  // nobody reads it any more
    return;
  }
  if (pending_.empty() && host_fd_ < 0 && !is_terminal_) sink_.Reset();
}

bool InputStream::Idle(Deadline::Clock::time_point now) const {
  if (!sink_.valid() || !pending_.empty() || now < silent_from_) return false;
  pollfd entry{host_fd_, POLLIN, 0};  // a negative one is passed over
  return poll(&entry, 1, 0) == 0;
}

std::optional<CommandPump::Event> CommandPump::ReadEnd() {
  const std::optional<proto::End> end = ReadCommandEnd(end_.get());
  if (!end) return Lost{};
  return Ended{*end};
}

CommandPump::Event CommandPump::Run(const Deadline& deadline) {
  std::optional<Event> event;
  while (!event) {
    PollSet set;
    set.Add(end_.get(), POLLIN, [&] { event = ReadEnd(); });
    if (interrupt_fd_ >= 0) {
      set.Add(interrupt_fd_, POLLIN, [&] {
        if (!event) event = Interrupted{};
      });
    }
    for (OutputStream* stream : {&out_, err_ ? &*err_ : nullptr}) {
      if (stream == nullptr) continue;
      if (stream->wants_read()) set.Add(stream->source_fd(), POLLIN, [stream] { stream->Read(); });
      if (stream->wants_write()) set.Add(stream->host_fd(), POLLOUT, [stream] { stream->Write(); });
    }
    if (input_.wants_read()) set.Add(input_.host_fd(), POLLIN, [this] { input_.Read(); });
    if (input_.wants_write()) set.Add(input_.sink_fd(), POLLOUT, [this] { input_.Write(); });
    // A command that always has something to say must not outrun its deadline.
    if (deadline.Passed() || !set.Wait(deadline)) {
      if (!event && deadline.Passed()) event = Expired{};
    }
  }
  return *event;
}

void CommandPump::Finish() {
  input_.Close();
  const LastOutput last;
  do {
    out_.Drain();
    if (err_) err_->Drain();
  } while (last.Await({out_.source_fd(), err_ ? err_->source_fd() : -1}));
  out_.Close();
  if (err_) err_->Close();
  bool interrupted = false;
  while (!interrupted && (out_.wants_write() || (err_ && err_->wants_write()))) {
    PollSet set;
    for (OutputStream* stream : {&out_, err_ ? &*err_ : nullptr}) {
      if (stream != nullptr && stream->wants_write())
        set.Add(stream->host_fd(), POLLOUT, [stream] { stream->Write(); });
    }
    if (interrupt_fd_ >= 0) set.Add(interrupt_fd_, POLLIN, [&] { interrupted = true; });
    set.Wait(Deadline::In(std::chrono::hours(1)));
  }
}

}  // namespace caisson::sandbox
