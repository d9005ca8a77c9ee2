#pragma once

#include <cstdint>
#include <string>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/service/service.h"

namespace caisson::rest {

// Sends a part of a file to a socket without copying it, between two texts: the frame of an HTTP chunk. Not
// thread-safe. Kernel: sendfile(2); on a Unix socket the pages themselves are handed over since Linux 6.5.
class SliceSender {
 public:
  // `socket`: borrowed, and does not block; it may be closed meanwhile.
  static Result<SliceSender> Start(int socket, const service::OutputFollower::Slice& slice, std::string head,
                                   std::string tail);

  enum class Progress : std::uint8_t { kDone, kSocketFull };
  // As much as the socket takes now, or within a millisecond. Errors: the client is gone; the file is shorter.
  Result<Progress> Send();

 private:
  SliceSender(os::Fd socket, const service::OutputFollower::Slice& slice, std::string head, std::string tail)
      : socket_(std::move(socket)), slice_(slice), head_(std::move(head)), tail_(std::move(tail)) {}
  Result<bool> SendText(std::string& text, int more) const;
  Result<bool> SendFile();

  os::Fd socket_;
  service::OutputFollower::Slice slice_;
  std::string head_;
  std::string tail_;
};

}  // namespace caisson::rest
