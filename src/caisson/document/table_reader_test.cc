#include <gtest/gtest.h>

#include <limits>

#include "caisson/document/document.h"

namespace caisson::document {
namespace {

Value ReadOrDie(std::string_view text) {
  Result<Value> value = Read(text, Format::kToml, "f.toml");
  EXPECT_TRUE(value) << value.error().message();
  return value ? *value : Value(Table{}, {1, 1}, {1, 1});
}

std::string MessageOf(TableReader& reader) {
  const Status status = reader.Finish();
  return status ? "accepted" : status.error().message();
}

TEST(TableReader, ReadsEachKind) {
  const Value value = ReadOrDie(
      "text = 'a'\nswitch = true\nwhole = -3\nnumber = 2\nmoment = 2027-01-01T00:00:00Z\nwritten = "
      "'2027-01-01T00:00:00Z'\n"
      "choice = 'b'\ntexts = ['x', 'y']\none = 'z'\n[sub]\nk = 1\n[[rule]]\nn = 1\n[[rule]]\nn = 2\n");
  TableReader reader(value, "f.toml");
  EXPECT_EQ(reader.Text("text"), "a");
  EXPECT_EQ(reader.Switch("switch"), true);
  EXPECT_EQ(reader.Whole("whole", -3, 3), -3);
  EXPECT_EQ(reader.Number("number", 0.5, 2), 2.0);
  EXPECT_EQ(reader.Moment("moment"), reader.Moment("written"));
  EXPECT_EQ(reader.Choice("choice", {"a", "b"}), 1U);
  EXPECT_EQ(reader.Texts("texts"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(reader.Texts("one", TableReader::One::kTaken), std::vector<std::string>{"z"});
  EXPECT_EQ(reader.Text("absent"), std::nullopt);
  EXPECT_FALSE(reader.Has("absent"));
  EXPECT_TRUE(reader.Has("one"));
  EXPECT_EQ(reader.PlaceOf("texts"), "f.toml:8");
  EXPECT_EQ(reader.PlaceOf("absent"), "f.toml:1");
  EXPECT_EQ(reader.RemainingKeys(), (std::vector<std::string>{"sub", "rule"}));

  auto sub = reader.SubTable("sub");
  ASSERT_TRUE(sub);
  EXPECT_EQ(sub->Whole("k", 0, 9), 1);
  EXPECT_TRUE(sub->Finish());
  auto rules = reader.Tables("rule");
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[1].Whole("n", 0, 9), 2);
  EXPECT_EQ(rules[1].place(), "f.toml:14");
  EXPECT_EQ(rules[0].Whole("n", 0, 9), 1);
  EXPECT_EQ(MessageOf(reader), "accepted");
}

TEST(TableReader, RefusesAnotherKind) {
  const auto refused = [](std::string_view text, const auto& read) {
    const Value value = ReadOrDie(text);
    TableReader reader(value, "f.toml");
    read(reader);
    return MessageOf(reader);
  };
  const auto text = [](TableReader& r) { EXPECT_EQ(r.Text("k"), std::nullopt); };
  EXPECT_EQ(refused("k = 1", text), "f.toml:1:5: 'k' must be a text");
  const auto flag = [](TableReader& r) { EXPECT_EQ(r.Switch("k"), std::nullopt); };
  EXPECT_EQ(refused("k = 'true'", flag), "f.toml:1:5: 'k' must be true or false");
  const auto whole = [](TableReader& r) { EXPECT_EQ(r.Whole("k", 1, 5), std::nullopt); };
  for (const std::string_view given : {"k = 0", "k = 6", "k = 1.0", "k = '1'", "k = true"}) {
    EXPECT_EQ(refused(given, whole), "f.toml:1:5: 'k' must be a whole number from 1 to 5");
  }
  const auto number = [](TableReader& r) { EXPECT_EQ(r.Number("k", 0.5, 2), std::nullopt); };
  for (const std::string_view given : {"k = 0", "k = nan", "k = inf", "k = -inf", "k = '1'"}) {
    EXPECT_EQ(refused(given, number), "f.toml:1:5: 'k' must be a number from 0.5 to 2");
  }
  const auto choice = [](TableReader& r) { EXPECT_EQ(r.Choice("k", {"allow", "deny"}), std::nullopt); };
  EXPECT_EQ(refused("k = 'alow'", choice),
            "f.toml:1:5: 'k' must be one of \"allow\" \"deny\"; did you mean \"allow\"?");
  const auto moment = [](TableReader& r) { EXPECT_EQ(r.Moment("k"), std::nullopt); };
  EXPECT_NE(refused("k = '2027-01-01T00:00:00'", moment), "accepted");
  const auto texts = [](TableReader& r) { EXPECT_TRUE(r.Texts("k").empty()); };
  EXPECT_EQ(refused("k = 'x'", texts), "f.toml:1:5: 'k' must be an array of texts");
  EXPECT_EQ(refused("k = ['x',\n 1]", texts), "f.toml:2:2: 'k' must hold texts only");
  const auto tables = [](TableReader& r) { EXPECT_TRUE(r.Tables("k").empty()); };
  EXPECT_EQ(refused("[k]", tables), "f.toml:1:1: 'k' must be an array of tables");
  EXPECT_EQ(refused("k = [{}, 1]", tables), "f.toml:1:10: 'k' must hold tables only");
  const auto table = [](TableReader& r) { EXPECT_FALSE(r.SubTable("k")); };
  EXPECT_EQ(refused("k = 1", table), "f.toml:1:5: 'k' must be a table");
}

TEST(TableReader, NamesAnUnknownKeyAndTheNearest) {
  const Value value = ReadOrDie("[limits]\n  memroy = 1\n");
  TableReader reader(value, "f.toml");
  auto limits = reader.SubTable("limits");
  ASSERT_TRUE(limits);
  (void)limits->Text("memory");
  EXPECT_EQ(MessageOf(*limits), "f.toml:2:3: 'memroy' is not known; did you mean 'memory'?");
  EXPECT_EQ(MessageOf(reader), MessageOf(*limits)) << "the outer one tells it, too";
  EXPECT_EQ(reader.AllMistakes().size(), 1U) << "once, however often it is finished";
}

TEST(TableReader, TellsAllMistakesInTheFilesOrder) {
  const Value value = ReadOrDie("a = 1\nb = 2\nzzzzz = 3\n");
  TableReader reader(value, "f.toml");
  (void)reader.Text("b");
  (void)reader.Text("a");
  reader.Refuse("absent", "must be there");
  EXPECT_EQ(MessageOf(reader).substr(0, 9), "f.toml:1:");
  const std::vector<Error> all = reader.AllMistakes();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[3].message(), "f.toml:3:1: 'zzzzz' is not known");
}

TEST(TableReader, IsBounded) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "unknown_key_" + std::to_string(i) + " = 1\n";
  const Value value = ReadOrDie(text);
  TableReader reader(value, "f.toml");
  (void)reader.Text("known");
  EXPECT_EQ(MessageOf(reader), "f.toml:1:1: 'unknown_key_0' is not known");
  EXPECT_EQ(reader.AllMistakes().size(), TableReader::kMostMistakes);
}

TEST(TableReader, TakesAWholeThatIsNoTableForAMistake) {
  const Value value(std::int64_t{1}, {1, 2}, {1, 2});
  TableReader reader(value, "f.toml");
  EXPECT_EQ(reader.Text("a"), std::nullopt);
  EXPECT_EQ(MessageOf(reader), "f.toml:1:2: this must be a table");
}

}  // namespace
}  // namespace caisson::document
