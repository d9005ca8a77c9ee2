#pragma once

#include "caisson/base/deadline.h"
#include "caisson/base/result.h"
#include "caisson/client/endpoint.h"
#include "caisson/os/fd.h"

namespace caisson::client {

// A connected, non-blocking, close-on-exec socket. Errors: kUnavailable, retryable, when nobody answers there
// (IsRefused); kPermissionDenied; kDeadlineExceeded.
Result<os::Fd> Connect(const Endpoint& endpoint, const Deadline& deadline);

// Of an error of this module: no connection was made, so nothing of the request arrived.
bool IsRefused(const Error& error);
// Of an error of this module: the connection broke, and nobody knows how much of the request arrived.
bool IsLost(const Error& error);

Error RefusedError(const Endpoint& endpoint, int errno_value);
Error LostError(const Endpoint& endpoint, std::string cause);

}  // namespace caisson::client
