#include "caisson/client/target.h"

#include <gtest/gtest.h>

namespace caisson::client {
namespace {

TEST(EncodeSegment, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(EncodeSegment("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(EncodeSegment("a/b?c#d:e f%"), "a%2Fb%3Fc%23d%3Ae%20f%25");
  EXPECT_EQ(EncodeSegment(std::string("\0\r\n\xFF", 4)), "%00%0D%0A%FF");
  EXPECT_EQ(EncodePath("home/a b/\xC3\xA9"), "home/a%20b/%C3%A9");
}

TEST(SandboxTarget, LetsNoIdLeaveItsPlace) {
  EXPECT_EQ(SandboxTarget("sb_4", "/commands"), "/v1/sandboxes/sb_4/commands");
  EXPECT_EQ(SandboxTarget("../x:stop?y"), "/v1/sandboxes/..%2Fx%3Astop%3Fy");
}

}  // namespace
}  // namespace caisson::client
