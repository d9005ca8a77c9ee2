#include "caisson/rest/slice_sender.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <cerrno>

namespace caisson::rest {
namespace {

constexpr int kPatienceMs = 1;

Error ClientIsGone(int error) { return Error::FromErrno(error, "the client takes nothing more"); }

}  // namespace

Result<SliceSender> SliceSender::Start(int socket, const service::OutputFollower::Slice& slice, std::string head,
                                       std::string tail) {
  // Of its own: the number of a closed one may be another's by then.
  os::Fd own(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  if (!own.valid()) return Fail(Error::FromErrno(errno, "cannot keep a connection"));
  return SliceSender(std::move(own), slice, std::move(head), std::move(tail));
}

Result<SliceSender::Progress> SliceSender::Send() {
  while (true) {
    CAISSON_TRY(bool sent, SendText(head_, MSG_MORE));
    if (sent) {
      CAISSON_TRY(sent, SendFile());
    }
    if (sent) {
      CAISSON_TRY(sent, SendText(tail_, 0));
    }
    if (sent) return Progress::kDone;
    pollfd entry{socket_.get(), POLLOUT, 0};
    if (poll(&entry, 1, kPatienceMs) <= 0) return Progress::kSocketFull;
  }
}

// False when the socket takes no more now.
Result<bool> SliceSender::SendText(std::string& text, int more) const {
  while (!text.empty()) {
    const ssize_t n = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT | more);
    if (n >= 0) {
      text.erase(0, static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      return Fail(ClientIsGone(errno));
    }
  }
  return true;
}

Result<bool> SliceSender::SendFile() {
  while (slice_.length > 0) {
    auto at = static_cast<off_t>(slice_.offset);
    const ssize_t n = sendfile(socket_.get(), slice_.file, &at, slice_.length);
    if (n > 0) {
      slice_.offset += static_cast<std::uint64_t>(n);
      slice_.length -= static_cast<std::uint64_t>(n);
    } else if (n == 0) {
      return Fail(Error(Code::kUnavailable, "a part of the output is not kept any more"));
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      return Fail(ClientIsGone(errno));
    }
  }
  return true;
}

}  // namespace caisson::rest
