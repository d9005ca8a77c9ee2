#include "caisson/wire/error_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "caisson/wire/json_text.h"

namespace caisson::wire {
namespace {

TEST(ErrorObject, HasEveryFieldInOrder) {
  EXPECT_EQ(JsonLine(ErrorObject(Error(Code::kNotFound, "no such thing"))),
            "{\"code\":\"not_found\",\"message\":\"no such thing\",\"cause\":null,\"remediation\":null,"
            "\"retryable\":false,\"details\":{}}\n");
  EXPECT_EQ(
      JsonLine(ErrorObject(
          Error(Code::kUnavailable, "busy").Because("why").Remedy("wait").Detail("retry_after_ms", "5").Retryable())),
      "{\"code\":\"unavailable\",\"message\":\"busy\",\"cause\":\"why\",\"remediation\":\"wait\","
      "\"retryable\":true,\"details\":{\"retry_after_ms\":\"5\"}}\n");
}

}  // namespace
}  // namespace caisson::wire
