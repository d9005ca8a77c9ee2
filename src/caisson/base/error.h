#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caisson {

// The ten error codes of the product. Each has one HTTP status and one wire name; what happened to a
// command is an outcome, never an error.
enum class Code {
  kInvalidArgument,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kConflict,
  kResourceExhausted,
  kUnavailable,
  kUnsupported,
  kDeadlineExceeded,
  kInternal,
};

// The stable name of a code as it appears in JSON, for example "invalid_argument".
std::string_view CodeName(Code code);

// Why a call failed, in the words a person needs: what failed (`message`), why (`cause`), what to do
// about it (`remediation`). Captured at the system call, given context on the way up, printed once.
// Value type; not thread-safe for concurrent mutation.
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  // The failure of a system call: the code follows from `errno_value`, the cause is its text.
  static Error FromErrno(int errno_value, std::string message);

  Error&& Because(std::string cause) &&;
  Error&& Remedy(std::string remediation) &&;
  Error&& Detail(std::string key, std::string value) &&;
  Error&& Retryable() &&;
  // Prepends what the caller was doing: "starting the launcher: cannot open /x".
  Error&& Context(std::string_view doing) &&;

  Code code() const { return code_; }
  // The errno of the failed system call, 0 when none was involved.
  int errno_value() const { return errno_; }
  const std::string& message() const { return message_; }
  const std::string& cause() const { return cause_; }
  const std::string& remediation() const { return remediation_; }
  bool retryable() const { return retryable_; }
  const std::vector<std::pair<std::string, std::string>>& details() const { return details_; }

 private:
  Code code_;
  int errno_ = 0;
  bool retryable_ = false;
  std::string message_;
  std::string cause_;
  std::string remediation_;
  std::vector<std::pair<std::string, std::string>> details_;
};

}  // namespace caisson
