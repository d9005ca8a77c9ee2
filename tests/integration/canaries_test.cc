#include "support/canaries.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <filesystem>
#include <optional>

#include "support/caisson_run.h"
#include "support/integration_test.h"

// That the canaries of all other tests notice: each is touched here, and only that is reported.

namespace caisson::support {
namespace {

class CanariesTest : public IntegrationTest {
 protected:
  void SetUp() override {
    IntegrationTest::SetUp();
    if (!IsSkipped()) canaries_.emplace();
  }
  void TearDown() override {
    canaries_.reset();
    IntegrationTest::TearDown();
  }
  Canaries& canaries() { return *canaries_; }

  // One line that begins with `report`, and none the next time.
  void ExpectReported(const std::string& report) {
    const std::vector<std::string> touched = canaries().TakeTouched();
    ASSERT_EQ(touched.size(), 1U) << testing::PrintToString(touched);
    EXPECT_TRUE(touched[0].starts_with(report)) << touched[0];
    EXPECT_EQ(canaries().TakeTouched(), std::vector<std::string>());
  }

  static os::Fd Connect(int family, const sockaddr* address, socklen_t size) {
    os::Fd connection(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(connection.get(), address, size), 0);
    return connection;
  }

  // The shell of the second sandbox: of the processes below `caisson` the one that is deepest.
  pid_t Shell() { return ProcessesBelow(canaries().neighbour().pid()).back(); }

 private:
  std::optional<Canaries> canaries_;
};

TEST_F(CanariesTest, AnUntouchedOneSaysNothing) {
  EXPECT_EQ(RunScript({}, "ls -lR /home /tmp; env; ps ax").status, 0);
  EXPECT_EQ(canaries().TakeTouched(), std::vector<std::string>());
}

TEST_F(CanariesTest, SeeTheFileOpened) {
  {
    const os::Fd file(open(canaries().secret_file().c_str(), O_RDONLY | O_CLOEXEC));
  }
  ExpectReported("the secret file was opened");
}

TEST_F(CanariesTest, SeeTheFileChanged) {
  WriteFile(canaries().secret_file(), "something else", 0600);
  const std::vector<std::string> touched = canaries().TakeTouched();
  EXPECT_EQ(touched, (std::vector<std::string>{"the secret file was opened, changed or moved",
                                               "the content of the secret file changed"}));
}

TEST_F(CanariesTest, SeeAConnectionOnTheLoopback) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(canaries().port());
  Connect(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ExpectReported("the listener on the loopback interface got a connection");
}

TEST_F(CanariesTest, SeeAConnectionOnTheAbstractSocket) {
  const std::string& name = canaries().socket_name();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  Connect(AF_UNIX, reinterpret_cast<const sockaddr*>(&address),
          static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()));
  ExpectReported("the listener on the abstract socket got a connection");
}

TEST_F(CanariesTest, SeeASecretInWhatASandboxWrote) {
  EXPECT_EQ(RunScript({}, "echo it is " + canaries().file_secret().text()).status, 0);
  ExpectReported("the secret of the host's file is in an output");
  EXPECT_EQ(RunScript({}, "echo " + canaries().neighbours_secret().text() + " >&2").status, 0);
  ExpectReported("a secret of the second sandbox is in an output");
}

// Not text, so that it comes encoded.
TEST_F(CanariesTest, SeeASecretInEncodedOutput) {
  const StepResult result = RunScriptJson({}, "printf '\\377%s' " + canaries().file_secret().text());
  EXPECT_EQ(result.encoding, "base64");
  ExpectReported("the secret of the host's file is in an output");
}

TEST_F(CanariesTest, SeeAForeignFileInTheSecondSandbox) {
  const std::string root = "/proc/" + std::to_string(Shell()) + "/root";
  WriteFile(root + "/tmp/foreign", "");
  const std::vector<std::string> touched = canaries().TakeTouched();
  ASSERT_EQ(touched.size(), 1U) << testing::PrintToString(touched);
  EXPECT_NE(touched[0].find("/tmp/foreign"), std::string::npos) << touched[0];
  std::filesystem::remove(root + "/tmp/foreign");
  EXPECT_EQ(canaries().TakeTouched(), std::vector<std::string>());
}

TEST_F(CanariesTest, SeeAForeignFileInItsWorkspace) {
  WriteFile(canaries().neighbours_workspace() + "/foreign", "");
  EXPECT_EQ(canaries().TakeTouched().size(), 2U);  // from inside and from outside
}

TEST_F(CanariesTest, SeeAnotherSecretInTheSecondSandbox) {
  WriteFile(canaries().neighbours_workspace() + "/secret", "another\n");
  const std::vector<std::string> touched = canaries().TakeTouched();
  ASSERT_EQ(touched.size(), 1U) << testing::PrintToString(touched);
  EXPECT_TRUE(touched[0].starts_with("the second sandbox sees")) << touched[0];
}

TEST_F(CanariesTest, SeeTheSecondSandboxEnd) {
  kill(Shell(), SIGKILL);
  const std::vector<std::string> touched = canaries().TakeTouched();
  EXPECT_EQ(touched, std::vector<std::string>{"the second sandbox does not answer"});
}

}  // namespace
}  // namespace caisson::support
