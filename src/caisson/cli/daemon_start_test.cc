#include "caisson/cli/daemon_start.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace caisson::cli {
namespace {

// A folder of its own, and a shell that is the daemon.
class StartDaemonTest : public testing::Test {
 protected:
  StartDaemonTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "daemon.XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~StartDaemonTest() override { std::filesystem::remove_all(folder_); }

  DaemonStart Shell(const std::string& script) {
    DaemonStart start;
    start.program = "/bin/sh";
    start.arguments = {"-c", script};
    start.folder = folder_ + "/run";
    start.endpoint.path = folder_ + "/s";
    return start;
  }
  std::string folder_;
};

TEST_F(StartDaemonTest, ReturnsWhenItAnswers) {
  // It listens, and lives until it was asked once. Its streams and folder are nobody's.
  const std::string script =
      "[ \"$(pwd)\" = / ] && read -r line; [ -z \"$line\" ] && exec python3 -c '\nimport socket, sys\n"
      "s = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\ns.accept()\n' " +
      folder_ + "/s";
  const Status started = StartDaemon(Shell(script));
  ASSERT_TRUE(started) << started.error().message() << ": " << started.error().cause();
  struct stat info{};
  ASSERT_EQ(stat((folder_ + "/run/daemon.log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(StartDaemonTest, SaysWhyItEnded) {
  const Status started = StartDaemon(Shell("echo cannot do it >&2; exit 3"));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::kUnavailable);
  EXPECT_EQ(started.error().cause(), "cannot do it");
  EXPECT_NE(started.error().remediation().find("daemon.log"), std::string::npos);
}

TEST_F(StartDaemonTest, GivesUpOnOneThatDoesNotAnswer) {
  DaemonStart start = Shell("read -r line < " + folder_ + "/never");
  ASSERT_EQ(mkfifo((folder_ + "/never").c_str(), 0600), 0);
  start.patience = std::chrono::milliseconds(100);
  const Status started = StartDaemon(start);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::kDeadlineExceeded);
  EXPECT_EQ(started.error().cause(), "it said nothing");
  std::ofstream(folder_ + "/never") << "end\n";  // lets it go
}

TEST_F(StartDaemonTest, NamesAProgramThatIsNotThere) {
  DaemonStart start = Shell("");
  start.program = folder_ + "/caisson";
  const Status started = StartDaemon(start);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::kNotFound);
  EXPECT_NE(started.error().message().find(folder_ + "/caisson"), std::string::npos) << started.error().message();
}

}  // namespace
}  // namespace caisson::cli
