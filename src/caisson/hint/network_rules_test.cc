#include <gtest/gtest.h>

#include "caisson/hint/ended_command.h"
#include "caisson/hint/rules.h"

namespace caisson::hint {
namespace {

TEST(NetworkBlocked, NamesTheHost) {
  for (const char* err : {"curl: (6) Could not resolve host: example.com\n",
                          "fatal: unable to access 'https://example.com/x.git/': Could not resolve host: example.com\n",
                          "wget: unable to resolve host address \xE2\x80\x98"
                          "example.com\xE2\x80\x99\n",
                          "E: Failed to fetch http://x  Could not resolve 'example.com'\n",
                          "npm ERR! request failed, reason: getaddrinfo EAI_AGAIN example.com\n",
                          "ssh: Could not resolve hostname example.com: Temporary failure in name resolution\n",
                          "dial tcp: lookup example.com: no such host\n"}) {
    const std::string said = Said(NetworkBlocked, ThatFailed(err, 6));
    EXPECT_TRUE(Names(said, "`example.com`") && Names(said, "--workspace")) << err << said;
  }
}

TEST(NetworkBlocked, KnowsMessagesWithoutAHost) {
  for (const char* err : {"socket.gaierror: [Errno -3] Temporary failure in name resolution\n",
                          "OSError: [Errno 101] Network is unreachable\n",
                          "Failed to establish a new connection: [Errno -2] Name or service not known\n"}) {
    EXPECT_TRUE(Names(Said(NetworkBlocked, ThatFailed(err)), "The sandbox has no network.")) << err;
  }
}

TEST(NetworkBlocked, SpeaksOfACommandThatTriedUntilItsTimeout) {
  EXPECT_NE(Said(NetworkBlocked, {sandbox::TimedOut{}, "Temporary failure in name resolution\n"}), "");
}

TEST(NetworkBlocked, IsSilentWithoutEvidence) {
  const std::string err = "curl: (6) Could not resolve host: example.com\n";
  EXPECT_EQ(Said(NetworkBlocked, {sandbox::Exited{0}, err}), "");
  EXPECT_EQ(Said(NetworkBlocked, {sandbox::Exited{1}, "", err}), "");
  EXPECT_EQ(
      Said(NetworkBlocked, ThatFailed("curl: (7) Failed to connect to 127.0.0.1 port 80: Connection refused\n", 7)), "")
      << "the command's own server is down";
  EndedCommand with_network = ThatFailed(err, 6);
  with_network.network = Network::kReachable;
  EXPECT_EQ(Said(NetworkBlocked, with_network), "");
}

}  // namespace
}  // namespace caisson::hint
