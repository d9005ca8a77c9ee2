#include "caisson/api/tools.h"

#include <gtest/gtest.h>

namespace caisson::api {
namespace {

TEST(ToolsJson, HoldsEveryDocument) {
  const std::string_view text = ToolsJson();
  EXPECT_TRUE(text.starts_with(R"([{"name":"edit_file",)")) << text.substr(0, 80);
  EXPECT_TRUE(text.ends_with("}]")) << text.substr(text.size() - 80);
  for (const char* name : {"get_environment", "list_changes", "list_directory", "read_file", "run_command",
                           "search_files", "write_file"}) {
    EXPECT_NE(text.find(R"({"name":")" + std::string(name) + '"'), std::string_view::npos) << name;
  }
}

}  // namespace
}  // namespace caisson::api
