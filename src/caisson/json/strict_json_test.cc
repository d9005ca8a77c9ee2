#include "caisson/json/strict_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

namespace caisson::json {
namespace {

std::string Nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(StrictJson, ReadsWhatTheStandardAllows) {
  EXPECT_EQ(ParseStrictJson("{\"a\":[1,2.5,true,null,\"\\u00e9\"],\"b\":{\"a\":1}}").value(),
            boost::json::parse("{\"a\":[1,2.5,true,null,\"\xC3\xA9\"],\"b\":{\"a\":1}}"));
  EXPECT_TRUE(ParseStrictJson(" 1 "));
  EXPECT_TRUE(ParseStrictJson(Nested(kMostDepth)));
  EXPECT_TRUE(ParseStrictJson("[{\"a\":1},{\"a\":1}]")) << "equal names in different objects";
}

TEST(StrictJson, RefusesEverythingElse) {
  const std::string texts[] = {"",
                               " ",
                               "{",
                               "{}{}",
                               "{}x",
                               "[1,]",
                               "{\"a\":1,}",
                               "{a:1}",
                               "'a'",
                               "// x\n1",
                               "NaN",
                               "Infinity",
                               "-Infinity",
                               "01",
                               "+1",
                               "1.",
                               ".5",
                               "0x1",
                               "1e400",
                               "-1e400",
                               "[1e999]",
                               "tru",
                               "\"\\x\"",
                               "\"a\nb\"",
                               "\"\xFF\"",
                               "\"\xC0\xAF\"",
                               "\"\xED\xA0\x80\"",
                               "\"\\ud800\"",
                               "\"\\udc00x\"",
                               "\xEF\xBB\xBF{}",
                               std::string("{\0}", 3),
                               std::string("\xFF\xFE{\0}\0", 6),
                               std::string("\0{\0}", 4),
                               std::string("{}\0", 3),
                               "{\"a\":1,\"a\":2}",
                               "{\"x\":{\"a\":1,\"b\":2,\"\\u0061\":3}}",
                               Nested(kMostDepth + 1),
                               std::string(100'000, '['),
                               std::string(100'000, '{')};
  for (const std::string& text : texts) {
    const auto parsed = ParseStrictJson(text);
    ASSERT_FALSE(parsed) << text.substr(0, 40);
    EXPECT_EQ(parsed.error().code(), Code::kInvalidArgument);
  }
}

TEST(StrictJson, NamesWhatIsTwice) {
  EXPECT_EQ(ParseStrictJson("{\"pids\":1,\"pids\":2}").error().cause(), "the name 'pids' is twice in one object");
}

TEST(StrictJson, TakesManyNamesQuickly) {
  std::string text = "{\"n\":0";
  for (int i = 0; i < 100'000; ++i) text += ",\"" + std::to_string(i) + "\":0";
  EXPECT_TRUE(ParseStrictJson(text + "}"));
  EXPECT_FALSE(ParseStrictJson(text + ",\"99999\":1}"));
}

}  // namespace
}  // namespace caisson::json
