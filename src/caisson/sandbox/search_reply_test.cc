#include "caisson/sandbox/search_reply.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace caisson::sandbox {
namespace {

proto::FileReply OneMatch() {
  proto::FileReply reply;
  proto::Match& match = *reply.add_matches();
  match.set_path("a/\xff b");
  match.set_line(7);
  match.set_column(3);
  match.set_text(std::string(500, '\xff'));
  reply.set_files_searched(9);
  reply.set_files_skipped(2);
  return reply;
}

TEST(SearchReply, GivesWhatWasFound) {
  proto::FileReply reply = OneMatch();
  reply.set_truncated(true);
  const auto found = MatchesOf(reply, 1);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->matches.size(), 1U);
  EXPECT_EQ(found->matches[0].path, "a/\xff b");
  EXPECT_EQ(found->matches[0].line, 7U);
  EXPECT_EQ(found->matches[0].column, 3U);
  EXPECT_EQ(found->matches[0].text.size(), 500U);
  EXPECT_TRUE(found->truncated);
  EXPECT_EQ(found->files_searched, 9U);
  EXPECT_EQ(found->files_skipped, 2U);
}

TEST(SearchReply, RefusesWhatNoSearchGives) {
  const std::function<void(proto::FileReply&, proto::Match&)> changes[] = {
      [](auto&, auto& match) { match.set_path(""); },
      [](auto&, auto& match) { match.set_path("../x"); },
      [](auto&, auto& match) { match.set_path("/etc/passwd"); },
      [](auto&, auto& match) { match.set_path("a//b"); },
      [](auto&, auto& match) { match.set_path(std::string("a\0b", 3)); },
      [](auto&, auto& match) { match.set_path(std::string(4096, 'p')); },
      [](auto&, auto& match) { match.set_line(0); },
      [](auto&, auto& match) { match.set_column(0); },
      [](auto&, auto& match) { match.set_text(std::string(501, 't')); },
      [](auto&, auto& match) { match.set_text("two\nlines"); },
      [](auto& reply, auto& match) { *reply.add_matches() = proto::Match(match); },
      [](auto& reply, auto&) { reply.set_files_searched(1'000'001); },
      [](auto& reply, auto&) { reply.set_files_skipped(1'000'001); },
  };
  for (const auto& change : changes) {
    proto::FileReply reply = OneMatch();
    change(reply, *reply.mutable_matches(0));
    const auto found = MatchesOf(reply, 1);
    ASSERT_FALSE(found) << &change - changes;
    EXPECT_EQ(found.error().code(), Code::kUnavailable);
  }
}

}  // namespace
}  // namespace caisson::sandbox
