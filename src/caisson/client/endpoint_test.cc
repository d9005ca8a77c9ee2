#include "caisson/client/endpoint.h"

#include <gtest/gtest.h>

namespace caisson::client {
namespace {

TEST(ParseEndpoint, TakesSocketsAndLoopbackAddresses) {
  const auto unix_socket = ParseEndpoint(kDefaultEndpoint, "--host");
  ASSERT_TRUE(unix_socket);
  EXPECT_EQ(unix_socket->kind, Endpoint::Kind::kUnix);
  EXPECT_EQ(unix_socket->path, "/run/caisson/caisson.sock");
  EXPECT_EQ(unix_socket->text(), kDefaultEndpoint);
  EXPECT_FALSE(unix_socket->key);

  const auto tcp = ParseEndpoint("http://127.0.0.1:7777", "--host", "secret");
  ASSERT_TRUE(tcp);
  EXPECT_EQ(tcp->address, "127.0.0.1");
  EXPECT_EQ(tcp->port, 7777);
  EXPECT_EQ(tcp->host, "127.0.0.1:7777");
  EXPECT_EQ(*tcp->key, "secret");
  EXPECT_EQ(tcp->text().find("secret"), std::string::npos);

  const auto name = ParseEndpoint("http://localhost:80/", "--host");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->address, "127.0.0.1");
  EXPECT_EQ(name->host, "localhost:80");
  const auto six = ParseEndpoint("http://[::1]:9", "--host");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->address, "::1");
  EXPECT_EQ(six->host, "[::1]:9");
}

TEST(ParseEndpoint, RefusesWhatIsNone) {
  for (const char* text : {"", "127.0.0.1:7777", "unix:", "unix://run/x", "ftp://127.0.0.1:1", "http://",
                           "http://127.0.0.1", "http://127.0.0.1:0", "http://127.0.0.1:65536", "http://127.0.0.1:7x",
                           "http://127.0.0.1:80/v1", "http://user@127.0.0.1:80", "http://127.0.0.1:80?x",
                           "http://[::1]", "http://[::1:80", "http://:80", "http://[]:80"}) {
    const auto endpoint = ParseEndpoint(text, "CAISSON_HOST");
    ASSERT_FALSE(endpoint) << text;
    EXPECT_NE(endpoint.error().message().find("CAISSON_HOST"), std::string::npos) << text;
    EXPECT_FALSE(endpoint.error().remediation().empty()) << text;
  }
  EXPECT_FALSE(ParseEndpoint("unix:///" + std::string(107, 'x'), "--host"));
  EXPECT_TRUE(ParseEndpoint("unix:///" + std::string(106, 'x'), "--host"));
}

TEST(ParseEndpoint, KeepsKeysOnThisHost) {
  for (const char* text :
       {"http://10.0.0.1:7777", "http://node.example:7777", "https://127.0.0.1:7777", "http://[::2]:7777"}) {
    const auto endpoint = ParseEndpoint(text, "--host", "k");
    ASSERT_FALSE(endpoint) << text;
    EXPECT_EQ(endpoint.error().code(), Code::kUnsupported) << text;
  }
}

TEST(ParseEndpoint, AKeyIsOneWord) {
  for (const std::string& key :
       {std::string("a b"), std::string("a\r\nX: y"), std::string("\x80"), std::string(513, 'k')}) {
    const auto endpoint = ParseEndpoint(kDefaultEndpoint, "--host", key);
    ASSERT_FALSE(endpoint);
    EXPECT_EQ(endpoint.error().message().find(key), std::string::npos) << "an error repeats no key";
  }
  EXPECT_TRUE(ParseEndpoint(kDefaultEndpoint, "--host", std::string(512, 'k')));
}

}  // namespace
}  // namespace caisson::client
