#include "caisson/rest/listener.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace caisson::rest {
namespace {

class ListenerTest : public ::testing::Test {
 protected:
  ListenerTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "caisson-listen-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~ListenerTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string folder_;
};

TEST_F(ListenerTest, IsForItsOwnerOnly) {
  const mode_t before = umask(0);
  const auto listener = ListenUnix(folder_ + "/s");
  umask(before);
  ASSERT_TRUE(listener) << listener.error().message();
  struct stat file{};
  ASSERT_EQ(stat((folder_ + "/s").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0600U);
  EXPECT_TRUE(S_ISSOCK(file.st_mode));
}

TEST_F(ListenerTest, ReplacesASocketThatNobodyAnswers) {
  const std::string path = folder_ + "/s";
  ASSERT_TRUE(ListenUnix(path));  // and ended again: its file stays
  ASSERT_TRUE(std::filesystem::exists(path));
  const auto again = ListenUnix(path);
  ASSERT_TRUE(again) << again.error().message();
  const auto third = ListenUnix(path);
  ASSERT_FALSE(third) << "somebody answers now";
  EXPECT_EQ(third.error().code(), Code::kConflict);
  RemoveSocketFile(*again);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ListenerTest, NeverRemovesAnythingElse) {
  const std::string path = folder_ + "/f";
  std::ofstream(path) << "precious";
  std::filesystem::create_directory(folder_ + "/d");
  std::filesystem::create_symlink(path, folder_ + "/l");
  for (const char* name : {"/f", "/d", "/l"}) {
    const auto listener = ListenUnix(folder_ + name);
    ASSERT_FALSE(listener) << name;
    EXPECT_EQ(listener.error().code(), Code::kAlreadyExists);
    EXPECT_TRUE(std::filesystem::exists(folder_ + name));
  }
  std::ofstream(folder_ + "/t~") << "precious";
  EXPECT_FALSE(ListenUnix(folder_ + "/t"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/t~"));
  const auto mine = ListenUnix(folder_ + "/s");
  ASSERT_TRUE(mine);
  std::filesystem::remove(folder_ + "/s");
  std::ofstream(folder_ + "/s") << "of somebody else";
  RemoveSocketFile(*mine);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/s"));
}

TEST_F(ListenerTest, SaysThatAPathIsTooLong) {
  const auto listener = ListenUnix(folder_ + "/" + std::string(120, 'x'));
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code(), Code::kInvalidArgument);
  EXPECT_NE(listener.error().cause().find("107"), std::string::npos);
  EXPECT_FALSE(ListenUnix(""));
  EXPECT_TRUE(ListenUnix(folder_ + "/" + std::string(107 - folder_.size() - 1, 'x'))) << "the longest there is";
}

TEST_F(ListenerTest, TakesOverListeningSocketsOnly) {
  os::Fd idle(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(AdoptListener(std::move(idle)));
  EXPECT_FALSE(AdoptListener(os::Fd(dup(STDERR_FILENO))));
  os::Fd wide(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ASSERT_EQ(bind(wide.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(wide.get(), 1), 0);
  EXPECT_FALSE(AdoptListener(std::move(wide))) << "reachable from elsewhere";
  const auto loopback = ListenLoopback(0);
  ASSERT_TRUE(loopback);
  EXPECT_NE(loopback->port, 0);
}

}  // namespace
}  // namespace caisson::rest
