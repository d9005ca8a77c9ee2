#pragma once

#include "caisson/base/error.h"
#include "caisson/rest/reply.h"

namespace caisson::rest {

// The status of an error: each of the ten codes has one.
int StatusOf(Code code);

// An error as `application/problem+json` (RFC 9457): {type, title, status, detail} and what an error says on every
// face {code, message, cause, remediation, retryable, details}. With Retry-After where the error names a time
// (detail `retry_after_ms`), and of 429 and 503 always.
Reply Problem(const Error& error);
// The same with a status that says more than the code does: 405, 413, 415, ...
Reply Problem(int status, const Error& error);

}  // namespace caisson::rest
