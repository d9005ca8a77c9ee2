#include "caisson/template/load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "caisson/document/document.h"

namespace caisson::templates {
namespace {

class LoadTemplate : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "caisson_load_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  static std::string Complaint(const std::string& path) {
    const auto loaded = Load(path);
    return loaded ? "accepted" : loaded.error().message() + " (" + loaded.error().cause() + ")";
  }

  std::string folder_;
};

TEST_F(LoadTemplate, ReadsThePolicyBesideIt) {
  const std::string path = Write("caisson.toml", "version = 1\npolicy = 'rules/policy.toml'\n");
  std::filesystem::create_directory(folder_ + "/rules");
  Write("rules/policy.toml", "version = 1\n");
  const auto loaded = Load(path);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->folder, folder_);
  EXPECT_EQ(loaded->policy_text, "version = 1\n");
  EXPECT_EQ(loaded->content.policy->source, path + ":2");
  const auto preset = Load(Write("caisson.toml", "version = 1\npolicy = 'standard'\n"));
  ASSERT_TRUE(preset);
  EXPECT_EQ(preset->policy_text, std::nullopt);
}

TEST_F(LoadTemplate, SaysWhatIsMissing) {
  EXPECT_NE(Complaint(folder_ + "/none.toml").find("No such file"), std::string::npos);
  const std::string path = Write("caisson.toml", "version = 1\npolicy = 'policy.toml'\n");
  EXPECT_TRUE(Complaint(path).starts_with(path + ":2: cannot open the policy 'policy.toml'")) << Complaint(path);
  EXPECT_TRUE(Complaint(Write("caisson.toml", "version = 1\nfoo = 1\n")).starts_with(path + ":2:1: "));
  EXPECT_NE(Complaint(folder_).find("no regular file"), std::string::npos);
}

// None of these may be waited for, or opened at all.
TEST_F(LoadTemplate, OpensRegularFilesOnly) {
  const std::string fifo = folder_ + "/fifo.toml";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(Complaint(fifo).find("no regular file"), std::string::npos);
  EXPECT_NE(Complaint("/dev/tty").find("no regular file"), std::string::npos);
  const std::string real = Write("real.toml", "version = 1\n");
  const std::string link = folder_ + "/link.toml";
  ASSERT_EQ(symlink("real.toml", link.c_str()), 0);
  EXPECT_NE(Complaint(link).find("symbolic link"), std::string::npos);

  const std::string path = Write("caisson.toml", "version = 1\npolicy = 'fifo.toml'\n");
  EXPECT_NE(Complaint(path).find("no regular file"), std::string::npos);
  Write("caisson.toml", "version = 1\npolicy = 'link.toml'\n");
  EXPECT_NE(Complaint(path).find("symbolic link"), std::string::npos);
  ASSERT_EQ(symlink("/etc", (folder_ + "/etc").c_str()), 0);
  Write("caisson.toml", "version = 1\npolicy = 'etc/passwd'\n");
  EXPECT_NE(Complaint(path).find("symbolic link"), std::string::npos);
}

TEST_F(LoadTemplate, IsBounded) {
  const std::string path = Write("caisson.toml", "version = 1\n");
  std::filesystem::resize_file(path, document::kMostBytes + 1);
  const auto loaded = Load(path);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), Code::kResourceExhausted);
}

TEST(LoadPolicyText, KeepsBelowItsFolder) {
  for (const char* path : {"../passwd", "/etc/passwd", "a/../../passwd", ""}) {
    EXPECT_FALSE(LoadPolicyText("/etc/ssl", {path, "caisson.toml:1"})) << path;
  }
}

}  // namespace
}  // namespace caisson::templates
