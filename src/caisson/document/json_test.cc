#include <gtest/gtest.h>

#include "caisson/document/document_fixture.h"

namespace caisson::document {
namespace {

Result<Value> ReadIt(std::string_view text) { return Read(text, Format::kJson, "policy.json"); }

std::string MessageOf(std::string_view text) { return MessageOf(ReadIt(text)); }

TEST(Json, KnowsWhereEverythingStands) {
  const auto value = ReadIt("{\"z\": 1,\n  \"ü\" : [true, -2.5,\n 12 ,\"x\\n\\\"\"],\r\n \"a\":{}}\n \t");
  ASSERT_TRUE(value) << value.error().message();
  const Table& whole = TableOf(*value);
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(whole[0].first, "z") << "in the file's order, not by name";
  EXPECT_EQ(std::get<std::int64_t>(whole[0].second.content()), 1);
  EXPECT_EQ(whole[0].second.place(), (Place{1, 7}));
  EXPECT_EQ(whole[0].second.key_place(), (Place{1, 2}));
  EXPECT_EQ(whole[1].first, "ü");
  EXPECT_EQ(whole[1].second.place(), (Place{2, 9})) << "in characters, not bytes";
  EXPECT_EQ(whole[1].second.key_place(), (Place{2, 3}));
  const Array& array = ArrayOf(whole[1].second);
  ASSERT_EQ(array.size(), 4U);
  EXPECT_EQ(array[0].place(), (Place{2, 10}));
  EXPECT_EQ(std::get<double>(array[1].content()), -2.5);
  EXPECT_EQ(array[1].place(), (Place{2, 16}));
  EXPECT_EQ(std::get<std::int64_t>(array[2].content()), 12);
  EXPECT_EQ(array[2].place(), (Place{3, 2}));
  EXPECT_EQ(std::get<std::string>(array[3].content()), "x\n\"");
  EXPECT_EQ(whole[2].second.place(), (Place{4, 6}));
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(MessageOf("{\"a\":1,\n\"a\":2}"), "policy.json:2:1: the name 'a' is twice in one object");
  EXPECT_EQ(MessageOf("{\"a\":{\"a\":1},\"b\":[{\"a\":1}]}"), "accepted");
  EXPECT_EQ(MessageOf("{\"a\":\n null}"), "policy.json:2:2: null says nothing; leave the name out");
  EXPECT_EQ(MessageOf("{\"a\":18446744073709551615}"), "policy.json:1:6: a number is too large");
  EXPECT_EQ(MessageOf("{\"a\":1e400}"), "policy.json:1:6: a number is too large");
  EXPECT_EQ(MessageOf("{\"a\":\"\\u0000\"}"), "policy.json:1:6: there is a zero byte");
  EXPECT_EQ(MessageOf("{\"\\u0000\":1}"), "policy.json:1:2: there is a zero byte");
  EXPECT_EQ(MessageOf("[1]"), "policy.json:1:1: the whole must be an object");
  EXPECT_EQ(MessageOf("7"), "policy.json:1:1: the whole must be an object");
  EXPECT_EQ(MessageOf("{}\n{}"), "policy.json:2:1: more follows after the object");
  EXPECT_TRUE(MessageOf("{\"a\":1,\n}").starts_with("policy.json:2:1: this is no JSON: ")) << MessageOf("{\"a\":1,\n}");
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "{\"a\"",
                                      "{\"a\":",
                                      "{\"a\":1",
                                      "{\"a\":\"x",
                                      "{\"a\":\"x\\",
                                      "{a:1}",
                                      "{\"a\":01}",
                                      "{\"a\":+1}",
                                      "{\"a\":.5}",
                                      "{\"a\":NaN}",
                                      "{\"a\":tru}",
                                      "{\"a\":1 2}",
                                      "{\"a\":1\"b\"}",
                                      "{\"a\":[1,]}",
                                      "{'a':1}",
                                      "{}//",
                                      "{\"a\":\"\n\"}",
                                      "{\"a\":\"\\q\"}",
                                      "{\"a\":\"\\ud800\"}",
                                      "{} x",
                                      "]"}) {
    EXPECT_TRUE(MessageOf(text).starts_with("policy.json:")) << text;
  }
  EXPECT_EQ(MessageOf("\xEF\xBB\xBF{}"), "policy.json:1:1: the file begins with a byte order mark");
  EXPECT_EQ(MessageOf("{\"a\":\n\"\xC3\"}"), "policy.json:2:1: the line is not UTF-8");
}

TEST(Json, BoundsDepthAndSize) {
  EXPECT_EQ(MessageOf("{\"a\":" + Repeated("[", 31) + Repeated("]", 31) + "}"), "accepted");
  EXPECT_EQ(MessageOf("{\"a\":" + Repeated("[", 32) + Repeated("]", 32) + "}"),
            "policy.json:1:37: more than 32 objects and arrays are inside each other");
  EXPECT_NE(MessageOf(Repeated("[", 4'000'000)), "accepted");
  EXPECT_NE(MessageOf(Repeated("{\"a\":", 1'000'000)), "accepted");
  EXPECT_TRUE(
      MessageOf("{\"a\":[" + Repeated("1,", 2'000'000) + "1]}").ends_with("there are more than 1000000 values"));
  EXPECT_EQ(MessageOf("{\"a\":\"" + std::string(4'000'000, 'x') + "\"}"), "accepted");
  EXPECT_EQ(MessageOf("{\"a\":" + Repeated(" \n", 2'000'000) + "1}"), "accepted");
}

}  // namespace
}  // namespace caisson::document
