#include "caisson/rest/access.h"

#include <gtest/gtest.h>

namespace caisson::rest {
namespace {

const std::vector<ApiKey> kKeys = {{"reader", HashOf("secret-1"), service::Permission::kReadSandboxes},
                                   {"admin", HashOf("secret-2"), service::kOperator}};

TEST(HashOf, IsSha256) {
  const KeyHash hash = HashOf("abc");
  EXPECT_EQ(hash[0], 0xBA);
  EXPECT_EQ(hash[1], 0x78);
  EXPECT_EQ(hash[31], 0xAD);
}

TEST(CallerOf, KnowsTheKey) {
  const auto caller = CallerOf(kKeys, "Bearer secret-1");
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->name, "reader");
  EXPECT_EQ(caller->permissions, service::Permission::kReadSandboxes);
  EXPECT_EQ(CallerOf(kKeys, "bearer secret-2")->name, "admin");
}

TEST(CallerOf, KnowsNothingElse) {
  for (const char* field :
       {"", "Bearer", "Bearer ", "Bearer secret-3", "Bearer secret-", "Bearer secret-11", "Bearer  secret-1",
        "Bearer secret-1 ", "Basic secret-1", "secret-1", "Bearer Secret-1", "Token secret-1"}) {
    EXPECT_FALSE(CallerOf(kKeys, field)) << field;
  }
  EXPECT_FALSE(CallerOf({}, "Bearer secret-1"));
  EXPECT_FALSE(CallerOf(kKeys, "Bearer " + std::string(100'000, 'x')));
}

TEST(IsOurHost, KnowsOnlyLoopbackNames) {
  for (const char* host : {"127.0.0.1:80", "localhost:80", "LocalHost:80", "[::1]:80"})
    EXPECT_TRUE(IsOurHost(host, 80)) << host;
  for (const char* host :
       {"", "localhost", "localhost:81", "127.0.0.1", "0.0.0.0:80", "[::]:80", "evil.test:80", "localhost.evil.test:80",
        "localhost:80 ", "127.0.0.1:080", "192.168.0.1:80", "127.1:80", "localhost:80:80", "user@localhost:80"}) {
    EXPECT_FALSE(IsOurHost(host, 80)) << host;
  }
}

TEST(IsSameOrigin, KnowsOnlyItself) {
  EXPECT_TRUE(IsSameOrigin("http://localhost:80", "localhost:80"));
  for (const char* origin : {"", "null", "http://localhost", "http://localhost:1", "https://localhost:80",
                             "http://localhost.evil.test:80", "https://evil.test", "http://127.0.0.1:80"}) {
    EXPECT_FALSE(IsSameOrigin(origin, "localhost:80")) << origin;
  }
}

}  // namespace
}  // namespace caisson::rest
