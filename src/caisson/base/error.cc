#include "caisson/base/error.h"

#include <cerrno>
#include <system_error>

namespace caisson {
namespace {

Code CodeOfErrno(int errno_value) {
  switch (errno_value) {
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case E2BIG:
      return Code::kInvalidArgument;
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return Code::kNotFound;
    case EEXIST:
      return Code::kAlreadyExists;
    case EPERM:
    case EACCES:
    case EROFS:
      return Code::kPermissionDenied;
    case EBUSY:
      return Code::kConflict;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
      return Code::kResourceExhausted;
    case ENOSYS:
    case EOPNOTSUPP:
      return Code::kUnsupported;
    case ETIMEDOUT:
      return Code::kDeadlineExceeded;
    case ECONNRESET:
    case ECONNREFUSED:
    case EPIPE:
      return Code::kUnavailable;
    default:
      return Code::kInternal;
  }
}

}  // namespace

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kNotFound:
      return "not_found";
    case Code::kAlreadyExists:
      return "already_exists";
    case Code::kPermissionDenied:
      return "permission_denied";
    case Code::kConflict:
      return "conflict";
    case Code::kResourceExhausted:
      return "resource_exhausted";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kDeadlineExceeded:
      return "deadline_exceeded";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

Error Error::FromErrno(int errno_value, std::string message) {
  Error error(CodeOfErrno(errno_value), std::move(message));
  error.errno_ = errno_value;
  error.cause_ = std::generic_category().message(errno_value);
  return error;
}

Error&& Error::Because(std::string cause) && {
  cause_ = std::move(cause);
  return std::move(*this);
}

Error&& Error::Remedy(std::string remediation) && {
  remediation_ = std::move(remediation);
  return std::move(*this);
}

Error&& Error::Detail(std::string key, std::string value) && {
  details_.emplace_back(std::move(key), std::move(value));
  return std::move(*this);
}

Error&& Error::Retryable() && {
  retryable_ = true;
  return std::move(*this);
}

Error&& Error::Context(std::string_view doing) && {
  message_.insert(0, ": ").insert(0, doing);
  return std::move(*this);
}

}  // namespace caisson
