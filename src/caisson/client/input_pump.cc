#include "caisson/client/input_pump.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "caisson/base/deadline.h"
#include "caisson/client/commands.h"
#include "caisson/client/connect.h"
#include "caisson/os/poll.h"

namespace caisson::client {
namespace {

constexpr std::size_t kPiece = 64U << 10U;
constexpr std::chrono::milliseconds kPause{100};
constexpr std::chrono::milliseconds kPatience{10'000};  // with a node that does not answer

enum class Go : std::uint8_t { kOn, kEnd };

// Waits for `fd`, or for as long as `timeout` says; kEnd when it is time to stop.
Go Await(int fd, int stop, int timeout) {
  std::array<pollfd, 2> entries = {pollfd{fd, POLLIN, 0}, pollfd{stop, POLLIN, 0}};
  return os::Poll(entries, timeout) && entries[1].revents == 0 ? Go::kOn : Go::kEnd;
}

// The command has ended, or wants no input.
bool IsOver(const Error& error) { return error.code() == Code::kConflict || error.code() == Code::kNotFound; }

// Sends all of it. Whether to go on.
Result<Go> Send(Http& http, const std::string& sandbox, const std::string& command, std::string_view bytes, Close close,
                int stop) {
  Deadline give_up = Deadline::In(kPatience);
  while (true) {
    const Result<std::size_t> taken = WriteInput(http, sandbox, command, bytes, close);
    if (taken) {
      give_up = Deadline::In(kPatience);
      bytes.remove_prefix(*taken);
      if (bytes.empty()) return Go::kOn;
      if (*taken > 0) continue;
    } else if (IsOver(taken.error())) {
      return Go::kEnd;
    } else {
      // How much arrived of what was sent is not known, so it is not sent again.
      const bool is_unsent = IsRefused(taken.error()) || taken.error().code() == Code::kResourceExhausted;
      if (!is_unsent || give_up.Passed()) return Fail(taken.error());
    }
    if (Await(-1, stop, static_cast<int>(kPause.count())) == Go::kEnd) return Go::kEnd;
  }
}

}  // namespace

InputPump::~InputPump() { (void)Stop(); }

Status InputPump::Start(const Endpoint& endpoint, std::string sandbox, std::string command, int fd) {
  stop_ = os::Fd(eventfd(0, EFD_CLOEXEC));
  if (!stop_.valid()) return Fail(Error::FromErrno(errno, "cannot forward the input"));
  try {
    thread_ = std::thread([this, endpoint, sandbox = std::move(sandbox), command = std::move(command), fd] {
      Run(endpoint, sandbox, command, fd);
    });
  } catch (const std::system_error& error) {
    return Fail(Error(Code::kResourceExhausted, "cannot forward the input").Because(error.what()));
  }
  return {};
}

std::optional<Error> InputPump::Stop() {
  if (thread_.joinable()) {
    (void)eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  return std::exchange(failure_, std::nullopt);
}

void InputPump::Run(const Endpoint& endpoint, const std::string& sandbox, const std::string& command, int fd) {
  Http http(endpoint);
  const auto piece = std::make_unique<std::array<char, kPiece>>();
  while (Await(fd, stop_.get(), -1) == Go::kOn) {
    const ssize_t length = read(fd, piece->data(), piece->size());
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (length < 0) {
      failure_ = Error::FromErrno(errno, "cannot read the standard input");
      return;
    }
    const bool is_end = length == 0;
    const std::string_view bytes(piece->data(), static_cast<std::size_t>(length));
    const Result<Go> sent = Send(http, sandbox, command, bytes, is_end ? Close::kYes : Close::kNo, stop_.get());
    if (!sent) failure_ = sent.error();
    if (!sent || *sent == Go::kEnd || is_end) return;
  }
}

}  // namespace caisson::client
