#include "caisson/policy/flag.h"

#include <gtest/gtest.h>

namespace caisson::policy {
namespace {

Presence Find(std::string_view flag, std::string_view text) {
  const shell::Analysis analysis = shell::Analyze("x " + std::string(text));
  EXPECT_EQ(analysis.commands.size(), 1U) << text;
  return FindFlag(flag, std::span(analysis.commands.at(0).words).subspan(1));
}

TEST(FindFlag, FindsShortOnes) {
  EXPECT_EQ(Find("-f", "-f"), Presence::kYes);
  EXPECT_EQ(Find("-f", "-rf a"), Presence::kYes);
  EXPECT_EQ(Find("-f", "a b"), Presence::kNo);
  EXPECT_EQ(Find("-f", "-r --force f"), Presence::kNo);
  EXPECT_EQ(Find("-f", "-o/f"), Presence::kMaybe);
  EXPECT_EQ(Find("-f", "-"), Presence::kNo);
}

TEST(FindFlag, FindsLongOnes) {
  EXPECT_EQ(Find("--force", "--force"), Presence::kYes);
  EXPECT_EQ(Find("--force", "--force=x"), Presence::kYes);
  EXPECT_EQ(Find("--force", "--for"), Presence::kMaybe);
  EXPECT_EQ(Find("--force", "--f=x"), Presence::kMaybe);
  EXPECT_EQ(Find("--force", "--forced"), Presence::kNo);
  EXPECT_EQ(Find("--force", "-force"), Presence::kNo);
  EXPECT_EQ(Find("--force", "-- x"), Presence::kNo);
  EXPECT_EQ(Find("-exec", ". -exec ls"), Presence::kYes);
  EXPECT_EQ(Find("-exec", ". -execdir ls"), Presence::kNo);
}

TEST(FindFlag, IsUnsureOfWhatIsNotKnown) {
  EXPECT_EQ(Find("-f", "$x"), Presence::kMaybe);
  EXPECT_EQ(Find("-f", "\"$x\""), Presence::kMaybe);
  EXPECT_EQ(Find("-f", "a$x"), Presence::kMaybe);  // may split into words
  EXPECT_EQ(Find("-f", "*.c"), Presence::kMaybe);  // a file may be called so
  EXPECT_EQ(Find("-f", "src/*.c"), Presence::kNo);
  EXPECT_EQ(Find("-f", "-- -f"), Presence::kMaybe);
  EXPECT_EQ(Find("-f", "-f -- -f"), Presence::kYes);
}

}  // namespace
}  // namespace caisson::policy
