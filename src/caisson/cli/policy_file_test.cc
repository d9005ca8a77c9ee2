#include "caisson/cli/policy_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace caisson::cli {
namespace {

class LoadPolicyTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    old_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(old_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  static void Write(const std::string& name, const std::string& text) { std::ofstream(name) << text; }
  static Code CodeOf(const std::string& named) {
    const auto policy = LoadPolicy(named);
    if (policy) ADD_FAILURE() << named;
    return policy ? Code::kInternal : policy.error().code();
  }

  std::string folder_ = testing::TempDir() + "caisson_policy.XXXXXX";
  std::filesystem::path old_;
};

TEST_F(LoadPolicyTest, TakesPresets) {
  for (const std::string_view name : policy::Policy::PresetNames()) {
    const auto policy = LoadPolicy(std::string(name));
    ASSERT_TRUE(policy) << name;
    EXPECT_EQ(policy->digest(), policy::Policy::Preset(name)->digest());
  }
}

TEST_F(LoadPolicyTest, APresetComesBeforeAFileThatIsCalledLikeIt) {
  Write("strict", "version = 1\ndefault = 'allow'\n");
  EXPECT_FALSE(LoadPolicy("strict")->allows_everything());
  EXPECT_TRUE(LoadPolicy("./strict")->allows_everything());
}

TEST_F(LoadPolicyTest, TakesTomlAndByItsEndingJson) {
  Write("policy.toml", "version = 1\ndefault = 'ask'\n");
  Write("policy.json", R"({"version": 1, "default": "ask"})");
  const auto toml = LoadPolicy("policy.toml");
  const auto json = LoadPolicy(folder_ + "/policy.json");
  ASSERT_TRUE(toml && json);
  EXPECT_EQ(toml->digest(), json->digest());
  Write("wrong.json", "version = 1\n");
  EXPECT_EQ(CodeOf("wrong.json"), Code::kInvalidArgument);
}

TEST_F(LoadPolicyTest, NamesTheNearestPreset) {
  const auto policy = LoadPolicy("minmal");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code(), Code::kInvalidArgument);
  EXPECT_NE(policy.error().cause().find("minimal"), std::string::npos) << policy.error().cause();
  EXPECT_NE(policy.error().remediation().find("read_only"), std::string::npos);
  EXPECT_EQ(CodeOf("./minimal"), Code::kNotFound) << "a path is no preset";
  EXPECT_EQ(CodeOf(""), Code::kInvalidArgument);
}

TEST_F(LoadPolicyTest, OpensNothingButFiles) {
  std::filesystem::create_directory("folder");
  ASSERT_EQ(mkfifo("fifo", 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", "link");
  for (const char* name : {"folder", "fifo", "/dev/zero"}) EXPECT_EQ(CodeOf(name), Code::kInvalidArgument) << name;
  EXPECT_FALSE(LoadPolicy("link"));
}

TEST_F(LoadPolicyTest, TellsWhereTheMistakeIs) {
  Write("policy.toml", "version = 1\n[[rule]]\neffect = 'maybe'\ncommands = ['ls']\n");
  const auto policy = LoadPolicy("policy.toml");
  ASSERT_FALSE(policy);
  EXPECT_TRUE(policy.error().message().starts_with("policy.toml:3")) << policy.error().message();
}

}  // namespace
}  // namespace caisson::cli
