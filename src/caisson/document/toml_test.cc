#include <gtest/gtest.h>

#include <limits>

#include "caisson/document/document_fixture.h"

namespace caisson::document {
namespace {

Result<Value> ReadIt(std::string_view text) { return Read(text, Format::kToml, "policy.toml"); }

std::string MessageOf(std::string_view text) { return MessageOf(ReadIt(text)); }

TEST(Toml, KnowsWhereEverythingStands) {
  const auto value = ReadIt(
      "version = 1\n\n[limits]\n  memory = \"2GiB\"\ncpus = 0.5\n[[rule]]\nname='a'\n[[rule]]\nuse = [true, \"ü\", "
      "7]\n");
  ASSERT_TRUE(value) << value.error().message();
  const Table& whole = TableOf(*value);
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(whole[0].first, "version");
  EXPECT_EQ(std::get<std::int64_t>(whole[0].second.content()), 1);
  EXPECT_EQ(whole[0].second.place(), (Place{1, 11}));
  EXPECT_EQ(whole[0].second.key_place(), (Place{1, 1}));
  EXPECT_EQ(whole[1].second.place().line, 3U);
  const Table& limits = TableOf(whole[1].second);
  EXPECT_EQ(limits[0].first, "memory") << "in the file's order, not by name";
  EXPECT_EQ(limits[0].second.place(), (Place{4, 12}));
  EXPECT_EQ(limits[0].second.key_place(), (Place{4, 3}));
  const Array& rules = ArrayOf(whole[2].second);
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[1].place().line, 8U);
  const Array& uses = ArrayOf(TableOf(rules[1])[0].second);
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[2].place(), (Place{9, 19})) << "in characters, not bytes";
}

TEST(Toml, TakesMomentsWithAnOffsetOnly) {
  const auto value = ReadIt("a = 2027-01-01T02:00:00.25+02:00\nb = 1969-12-31 23:59:59Z\n");
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(std::get<Time>(TableOf(*value)[0].second.content()).time_since_epoch().count(), 1798761600250);
  EXPECT_EQ(std::get<Time>(TableOf(*value)[1].second.content()).time_since_epoch().count(), -1000);
  EXPECT_EQ(MessageOf("a = 2027-01-01T00:00:00"),
            "policy.toml:1:5: a time needs an offset from UTC; write 2027-01-01T00:00:00Z");
  EXPECT_EQ(MessageOf("\na = 2027-01-01"),
            "policy.toml:2:5: a date or a time alone is no moment; write 2027-01-01T00:00:00Z");
  EXPECT_NE(MessageOf("a = 12:30:00"), "accepted");
  EXPECT_NE(MessageOf("a = 2027-02-29T00:00:00Z"), "accepted");
}

TEST(Toml, SaysWhatIsWrongAndWhere) {
  EXPECT_TRUE(MessageOf("a = 1\nb 2\n").starts_with("policy.toml:2:3: expected =, but there is '2'"));
  EXPECT_TRUE(MessageOf("a = 1\na = 2\n").starts_with("policy.toml:2:"));
  EXPECT_TRUE(MessageOf("[a]\n[a]\n").starts_with("policy.toml:2:2:"));
  EXPECT_TRUE(MessageOf("a = {b = 1}\n[a.c]\n").starts_with("policy.toml:2:"));
  EXPECT_TRUE(MessageOf("a = \"x").starts_with("policy.toml:1:"));
  EXPECT_EQ(MessageOf("\xEF\xBB\xBF"
                      "a = 1"),
            "policy.toml:1:1: the file begins with a byte order mark");
  EXPECT_EQ(MessageOf("a = 1\nb = \"\xff\"\n"), "policy.toml:2:1: the line is not UTF-8");
  EXPECT_EQ(MessageOf(std::string_view("a = 1 #\0\n", 9)), "policy.toml:1:8: there is a zero byte");
  EXPECT_EQ(MessageOf("a = \"\\u0000\""), "policy.toml:1:6: there is a zero byte");
  EXPECT_EQ(MessageOf("\"\\u0000\" = 1"), "policy.toml:1:2: there is a zero byte");
  EXPECT_NE(MessageOf("a = 99999999999999999999"), "accepted");
  EXPECT_EQ(MessageOf("a = \"\x1b[31m\"").find('\x1b'), std::string::npos) << "a terminal must not obey it";
}

TEST(Toml, SaysWhatItExpected) {
  EXPECT_EQ(MessageOf("a = [}]"), "policy.toml:1:6: expected a value, but there is '}'");
  EXPECT_EQ(MessageOf("version = 1\n[=]\nb = 1\n"), "policy.toml:2:2: expected a key, but there is '='");
  EXPECT_EQ(MessageOf("a = [1,\n  \"ü\" ü]\n"), "policy.toml:2:7: expected , or ], but there is 'ü'");
  EXPECT_EQ(MessageOf("a ="), "policy.toml:1:4: expected a value, but the file ends");
  EXPECT_EQ(MessageOf("[a]b = 1"), "policy.toml:1:4: expected the end of the line, but there is 'b'");
  EXPECT_EQ(MessageOf("a = yes"), "policy.toml:1:5: 'yes' is no value; a text stands in quotes");
  EXPECT_EQ(MessageOf("a = \"x\ny\""),
            "policy.toml:1:7: a text in single quotes ends in its line; one in three goes on");
}

TEST(Toml, ReadsEveryWayToWriteAValue) {
  const auto value = ReadIt(
      "a = [0x1F, 0o17, 0b101, 1_000, -0, +7, 9223372036854775807, -9223372036854775808]\r\n"
      "b = [1.5, -2e3, 6.02_2E+2_3, +0.0, 1e05]\n"
      "c = \"\\u00fc\\U0001F600\\t\\\\\"\n"
      "d = 'c:\\d'\n"
      "e = \"\"\"\nf\\\n\n   g\"\"h\"\"\"\"\"\n"
      "'i j'.\"k\" . l-1 = {m.n = [ # comment\n [], {}\n,], m.o = 1}\n");
  ASSERT_TRUE(value) << value.error().message();
  const Table& whole = TableOf(*value);
  std::vector<std::int64_t> numbers;
  for (const Value& number : ArrayOf(whole[0].second)) numbers.push_back(std::get<std::int64_t>(number.content()));
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{31, 15, 5, 1000, 0, 7, std::numeric_limits<std::int64_t>::max(),
                                                std::numeric_limits<std::int64_t>::min()}));
  std::vector<double> fractions;
  for (const Value& number : ArrayOf(whole[1].second)) fractions.push_back(std::get<double>(number.content()));
  EXPECT_EQ(fractions, (std::vector<double>{1.5, -2000, 6.022e23, 0, 1e5}));
  EXPECT_EQ(std::get<std::string>(whole[2].second.content()), "\u00fc\U0001F600\t\\");
  EXPECT_EQ(std::get<std::string>(whole[3].second.content()), "c:\\d");
  EXPECT_EQ(std::get<std::string>(whole[4].second.content()), "fg\"\"h\"\"");
  const Table& inner = TableOf(TableOf(TableOf(whole[5].second)[0].second)[0].second);
  ASSERT_EQ(inner.size(), 1U);
  EXPECT_EQ(TableOf(inner[0].second).size(), 2U);
}

TEST(Toml, RefusesWhatTomlDoesNotHave) {
  for (const std::string_view text : {"a",
                                      "= 1",
                                      "a = 1 b = 2",
                                      "a = ",
                                      "a.= 1",
                                      ".a = 1",
                                      "a..b = 1",
                                      "a b = 1",
                                      "ä = 1",
                                      "\"\"\"a\"\"\" = 1",
                                      "a = 01",
                                      "a = 0x",
                                      "a = 0xG",
                                      "a = -0x1",
                                      "a = 1__0",
                                      "a = _1",
                                      "a = 1_",
                                      "a = 1.",
                                      "a = .5",
                                      "a = 1.e5",
                                      "a = 1e",
                                      "a = 1_.5",
                                      "a = 00.5",
                                      "a = 1e400",
                                      "a = Inf",
                                      "a = True",
                                      "a = +true",
                                      "a = 9223372036854775808",
                                      "a = \"\\q\"",
                                      "a = \"\\u12\"",
                                      "a = \"\\ud800\"",
                                      "a = \"\\U00110000\"",
                                      "a = 'x",
                                      "a = '''x''",
                                      "a = \"\"\"x",
                                      "a = \"\x01\"",
                                      "a = 1 # \x7f",
                                      "a = 1\rb = 2",
                                      "a = [1 2]",
                                      "a = [1,,2]",
                                      "a = [,1]",
                                      "a = [1",
                                      "a = {b = 1,}",
                                      "a = {b = 1 c = 2}",
                                      "a = {\nb = 1}",
                                      "a = {b}",
                                      "a = {",
                                      "[a",
                                      "[a]]",
                                      "[[a]",
                                      "[ [a]]",
                                      "[]",
                                      "[a.]",
                                      "[a] [b]",
                                      "[a]\n[a]",
                                      "[[a]]\n[a]",
                                      "[a]\n[[a]]",
                                      "a = 1\n[a]",
                                      "a = 1\n[a.b]",
                                      "a = []\n[[a]]",
                                      "a = {}\n[a.b]",
                                      "a.b = 1\n[a]",
                                      "[a.b]\n[a]\nb.c = 1",
                                      "[a.b]\n[a]\nb = 1",
                                      "a.b = 1\na = 2",
                                      "a = {}\na.b = 1",
                                      "a = {b = {}, b.c = 1}",
                                      "a = {b = 1, b = 2}",
                                      "a = {b.c = 1, b = 2}",
                                      "[[a.b]]\n[a]\nb = 1"}) {
    EXPECT_TRUE(MessageOf(text).starts_with("policy.toml:")) << text;
  }
  for (const std::string_view text :
       {"a.b = 1\na.c = 2", "[a]\nb.c = 1\n[a.b.d]", "[a.b]\n[a]\nc = 1", "[[a]]\n[a.b]\n[[a]]\n[a.b]",
        "[a]\n[b]\n[a.c]", "[ a . \"b\" ]", "a = {}", "3.1 = 1", "\"\" = 1", "true = 1", "a = [\n1, # x\n\n2\n]",
        "a=1#x", "\r\n a\t=\t1 \r\n"}) {
    EXPECT_EQ(MessageOf(text), "accepted") << text;
  }
}

TEST(Toml, TakesWhatIsLong) {
  EXPECT_EQ(MessageOf(""), "accepted");
  EXPECT_EQ(MessageOf("# nothing"), "accepted");
  EXPECT_EQ(MessageOf("a = \"\"\"x\"\"\"\"\"\nb.c = '''y'''''\n"), "accepted");
  EXPECT_EQ(MessageOf("a = \"" + std::string(1'000'000, 'x') + "\""), "accepted");
  EXPECT_EQ(MessageOf(std::string(kMostBytes + 1, '\n')), "policy.toml:1:1: the file is longer than 8MiB");
  EXPECT_EQ(
      MessageOf(Repeated("[[rule]]\nname = \"a.b.c\"\npaths = [\"/a\", \"/b\"]\nwhen = { days = \"mon\" }\n", 20'000)),
      "accepted");
  EXPECT_EQ(MessageOf(Repeated("[[rule]]\n[rule.when]\ndays = 'mon'\n", 10'000)), "accepted");
}

// Depth counts the whole.
TEST(Toml, BoundsDepth) {
  EXPECT_EQ(MessageOf("a = " + Repeated("[", 31) + Repeated("]", 31)), "accepted");
  EXPECT_NE(MessageOf("a = " + Repeated("[", 32) + Repeated("]", 32)).find("more than 32 tables and arrays"),
            std::string::npos);
  EXPECT_NE(MessageOf("a = " + Repeated("[", 4'000'000)).find("more than 32 tables and arrays"), std::string::npos);
  EXPECT_NE(MessageOf("a = " + Repeated("{a=", 1'000'000)).find("more than 32 tables and arrays"), std::string::npos);
  EXPECT_EQ(MessageOf("a" + Repeated(".a", 31) + "=1"), "accepted");
  EXPECT_EQ(MessageOf("[x]\na" + Repeated(".a", 31) + "=1"),
            "policy.toml:2:61: more than 32 tables and arrays are inside each other");
  EXPECT_EQ(MessageOf("a" + Repeated(".a", 4'000'000) + "=1"), "policy.toml:1:65: a key has more than 32 parts");
  EXPECT_EQ(MessageOf("[a" + Repeated(".a", 4'000'000) + "]"), "policy.toml:1:66: a key has more than 32 parts");
  EXPECT_EQ(MessageOf("x = [{a" + Repeated(" .'a'", 1'000'000) + "=1}]").substr(0, 14), "policy.toml:1:");
  // Levels of both kinds multiply: 31 inline tables, each with a key of 32 parts.
  EXPECT_TRUE(MessageOf("a={" + Repeated("a.a={", 15)).ends_with("but the file ends"));
  EXPECT_TRUE(MessageOf("a={" + Repeated("a.a={", 16)).ends_with("inside each other"));
  EXPECT_TRUE(MessageOf(Repeated("a" + Repeated(".a", 20) + "={", 20)).ends_with("inside each other"));
}

// What takes minutes where tables are looked for one after another.
TEST(Toml, TakesManyTables) {
  std::string dotted;
  for (int i = 0; i < 100'000; ++i) dotted += "a" + std::to_string(i) + ".b=1\n";
  EXPECT_EQ(MessageOf(dotted), "accepted");
  std::string arrays;
  for (int i = 0; i < 100'000; ++i) arrays += "[[a" + std::to_string(i) + "]]\n";
  EXPECT_EQ(MessageOf(arrays + Repeated("[[a99999]]\n", 100'000)), "accepted");
  EXPECT_EQ(MessageOf(Repeated("[[a]]\n[[a.b]]\n", 100'000)), "accepted");
  EXPECT_EQ(MessageOf("x=[" + Repeated("{a.b=1,a.c=1},", 100'000) + "]"), "accepted");
}

TEST(Toml, BoundsValues) {
  EXPECT_TRUE(MessageOf("a = [" + Repeated("1,", 2'000'000) + "]").ends_with("there are more than 1000000 values"));
  EXPECT_TRUE(MessageOf("a = [" + Repeated("[],", 2'000'000) + "]").ends_with("there are more than 1000000 values"));
  EXPECT_TRUE(MessageOf(Repeated("[[a]]\n", 1'100'000)).ends_with("there are more than 1000000 values"));
}

}  // namespace
}  // namespace caisson::document
