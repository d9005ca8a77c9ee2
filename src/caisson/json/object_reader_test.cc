#include "caisson/json/object_reader.h"

#include <gtest/gtest.h>

namespace caisson::json {
namespace {

using std::chrono::milliseconds;

std::string PointerIn(const Error& error) {
  for (const auto& [key, value] : error.details()) {
    if (key == "pointer") return value;
  }
  return "none";
}

TEST(ObjectReader, ReadsEachKind) {
  const Status status = ReadObject(
      R"({"text":"a","count":9007199254740993,"number":2,"half":0.5,"on":true,"kind":"b","list":["x","y"],
          "map":{"k":"v","A":""},"inner":{"ticket":"t"},"ms":250})",
      [](ObjectReader& reader) {
        EXPECT_EQ(reader.Text("text", 10), "a");
        EXPECT_EQ(reader.Count("count", 0, UINT64_MAX), 9007199254740993U);
        EXPECT_EQ(reader.Number("number", 0, 10), 2.0);
        EXPECT_EQ(reader.Number("half", 0, 10), 0.5);
        EXPECT_EQ(reader.Switch("on"), true);
        EXPECT_EQ(reader.Choice("kind", {"a", "b"}), 1U);
        EXPECT_EQ(reader.Texts("list", 5, 5), (std::vector<std::string>{"x", "y"}));
        EXPECT_EQ(reader.Pairs("map", 5, 5).size(), 2U);
        std::optional<ObjectReader> inner = reader.Object("inner");
        ASSERT_TRUE(inner);
        EXPECT_EQ(inner->Text("ticket", 10), "t");
        EXPECT_TRUE(inner->Finish());
        EXPECT_EQ(reader.Milliseconds("ms", milliseconds(1), milliseconds(1000)), milliseconds(250));
        EXPECT_EQ(reader.Text("absent", 10), std::nullopt);
      });
  EXPECT_TRUE(status);
}

TEST(ObjectReader, PointsAtTheMistake) {
  struct Case {
    const char* body;
    const char* pointer;
  };
  const Case cases[] = {{R"({"text":1})", "/text"},
                        {R"({"text":"too long a text"})", "/text"},
                        {R"({"text":"a\u0000b"})", "/text"},
                        {R"({"count":-1})", "/count"},
                        {R"({"count":11})", "/count"},
                        {R"({"count":1.5})", "/count"},
                        {R"({"count":1e2})", "/count"},
                        {R"({"count":"5"})", "/count"},
                        {R"({"count":9223372036854775808})", "/count"},
                        {R"({"count":18446744073709551616})", "/count"},
                        {R"({"number":11})", "/number"},
                        {R"({"number":"2"})", "/number"},
                        {R"({"on":1})", "/on"},
                        {R"({"kind":"c"})", "/kind"},
                        {R"({"list":"x"})", "/list"},
                        {R"({"list":["x",2]})", "/list/1"},
                        {R"({"list":["1","2","3","4"]})", "/list"},
                        {R"({"map":{"a/b~":1}})", "/map/a~1b~0"},
                        {R"({"map":{"":"x"}})", "/map/"},
                        {R"({"map":{"a=b":"x"}})", "/map/a=b"},
                        {R"({"text":null})", "/text"},
                        {R"({"inner":null})", "/inner"},
                        {R"({"inner":"x"})", "/inner"},
                        {R"({"inner":{"tickt":"x"}})", "/inner/tickt"},
                        {R"({"inner":{"ticket":1}})", "/inner/ticket"}};
  for (const Case& one : cases) {
    const Status status = ReadObject(one.body, [](ObjectReader& reader) {
      (void)reader.Text("text", 10);
      (void)reader.Count("count", 1, 10);
      (void)reader.Number("number", 0.5, 10);
      (void)reader.Switch("on");
      (void)reader.Choice("kind", {"a", "b"});
      (void)reader.Texts("list", 3, 5);
      (void)reader.Pairs("map", 3, 5);
      if (std::optional<ObjectReader> inner = reader.Object("inner")) {
        (void)inner->Text("ticket", 5);
        (void)inner->Finish();
      }
    });
    ASSERT_FALSE(status) << one.body;
    EXPECT_EQ(status.error().code(), Code::kInvalidArgument);
    EXPECT_EQ(PointerIn(status.error()), one.pointer) << one.body;
  }
}

TEST(ObjectReader, CountsCharactersAndNotBytes) {
  const auto fits = [](const std::string& body) {
    return ReadObject(body,
                      [](ObjectReader& reader) {
                        (void)reader.Text("text", 3);
                        (void)reader.Pairs("map", 1, 1);
                      })
        .has_value();
  };
  EXPECT_TRUE(fits("{\"text\":\"\u00E9\u00E9\U0001F600\"}"));
  EXPECT_FALSE(fits("{\"text\":\"\u00E9\u00E9\u00E9\u00E9\"}"));
  std::string name;
  for (int i = 0; i < 255; ++i) name += "\u00E9";
  EXPECT_TRUE(fits("{\"map\":{\"" + name + "\":\"\u00E9\"}}"));
  EXPECT_FALSE(fits("{\"map\":{\"" + name + "x\":\"\"}}"));
}

TEST(ObjectReader, TakesWholeNumbersInEveryForm) {
  const auto count = [](const std::string& text) {
    std::optional<std::uint64_t> read;
    (void)ReadObject("{\"n\":" + text + "}", [&](ObjectReader& reader) { read = reader.Count("n", 0, UINT64_MAX); });
    return read;
  };
  EXPECT_EQ(count("244.0"), 244U);
  EXPECT_EQ(count("2e3"), 2000U);
  EXPECT_EQ(count("-0.0"), 0U);
  EXPECT_EQ(count("9007199254740992.0"), 9007199254740992U);
  for (const char* text : {"-1.0", "0.5", "1e-300", "9007199254740994.0", "1e300"}) EXPECT_FALSE(count(text)) << text;
}

TEST(ObjectReader, NamesTheNearestKnownField) {
  const Status status =
      ReadObject(R"({"memroy_bytes":1})", [](ObjectReader& reader) { (void)reader.Count("memory_bytes", 0, 10); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "the field '/memroy_bytes' is not known");
  EXPECT_EQ(status.error().remediation(), "did you mean 'memory_bytes'?");
}

TEST(ObjectReader, WantsAnObject) {
  for (const char* body : {"[]", "1", "null", "\"x\""}) {
    EXPECT_FALSE(ReadObject(body, [](ObjectReader& reader) { (void)reader.Text("a", 1); })) << body;
  }
}

}  // namespace
}  // namespace caisson::json
