#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "caisson/base/error.h"

namespace caisson {

// The value, or why there is none. Every call that can fail for reasons outside the program returns one.
template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// `return Fail(Error(...))` from a function that returns any Result.
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace caisson

#define CAISSON_CONCAT_INNER(a, b) a##b
#define CAISSON_CONCAT(a, b) CAISSON_CONCAT_INNER(a, b)

// CAISSON_TRY(auto fd, Open(...)): declares `fd` from the value, or returns the error to the caller.
#define CAISSON_TRY(declaration, expression) \
  CAISSON_TRY_NAMED(CAISSON_CONCAT(result_, __LINE__), declaration, expression)
#define CAISSON_TRY_NAMED(name, declaration, expression)      \
  auto name = (expression);                                   \
  if (!name) return ::caisson::Fail(std::move(name).error()); \
  declaration = std::move(*name)

// CAISSON_CHECK_OK(Write(...)): returns the error of a Status to the caller.
#define CAISSON_CHECK_OK(expression)                     \
  do {                                                   \
    if (auto status = (expression); !status) {           \
      return ::caisson::Fail(std::move(status).error()); \
    }                                                    \
  } while (false)
