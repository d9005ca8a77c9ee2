#include "caisson/api/openapi.h"

#include <gtest/gtest.h>

namespace caisson::api {
namespace {

TEST(OpenApiJson, IsTheWholeDocument) {
  const std::string_view text = OpenApiJson();
  EXPECT_TRUE(text.starts_with(R"({"openapi":"3.1.0",)")) << text.substr(0, 80);
  EXPECT_TRUE(text.ends_with("}}}}")) << text.substr(text.size() - 80);
  EXPECT_NE(text.find(R"("/v1/sandboxes/{id}:pause")"), std::string_view::npos);
  EXPECT_GT(text.size(), 40'000U);
}

}  // namespace
}  // namespace caisson::api
