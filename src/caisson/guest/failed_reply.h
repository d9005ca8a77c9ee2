#pragma once

#include "caisson/proto/guest.pb.h"

namespace caisson::guest {

// The reply of an operation whose `step` gave this errno.
inline proto::FileReply FailedReply(const char* step, int error) {
  proto::FileReply reply;
  reply.set_step(step);
  reply.set_error(error);
  return reply;
}

}  // namespace caisson::guest
