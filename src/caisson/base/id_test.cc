#include "caisson/base/id.h"

#include <gtest/gtest.h>

#include <set>

namespace caisson {
namespace {

TEST(SandboxId, RandomIdsHaveTheFormAndDiffer) {
  std::set<SandboxId> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(SandboxId::Random());
  EXPECT_EQ(ids.size(), 1000U);
  for (const SandboxId& id : ids) {
    EXPECT_EQ(id.text().size(), SandboxId::kLength);
    EXPECT_EQ(id.text().substr(0, 3), "sb_");
  }
}

TEST(SandboxId, ParseReadsItsOwnText) {
  const SandboxId id = SandboxId::Random();
  const Result<SandboxId> read = SandboxId::Parse(id.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, id);
}

TEST(SandboxId, ParseRefusesEverythingElse) {
  const std::string good = "sb_abcdefghijklmnopqrstuvwxyz";
  ASSERT_TRUE(SandboxId::Parse(good));
  const std::string bad[] = {"",
                             "sb_",
                             good.substr(1),
                             good + "a",
                             "xx_abcdefghijklmnopqrstuvwxyz",
                             "sb_ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                             "sb_abcdefghijklmnopqrstuvwxy1",
                             "sb_../../../../../../../../..",
                             std::string("sb_abcdefghijklmnopqrstuvwxy\0", 29)};
  for (const std::string& text : bad) {
    const Result<SandboxId> id = SandboxId::Parse(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace caisson
