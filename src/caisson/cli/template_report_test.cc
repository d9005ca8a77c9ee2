#include "caisson/cli/template_report.h"

#include <gtest/gtest.h>

#include "caisson/cli/parse_for_test.h"
#include "caisson/template/read.h"

namespace caisson::cli {
namespace {

TemplateCheck CheckOf(std::string_view text) {
  templates::Reading reading = templates::ReadWithMistakes(text, "caisson.toml");
  return {.file = "caisson.toml",
          .mistakes = std::move(reading.mistakes),
          .lacking = reading.content ? reading.content->NotYet() : std::vector<templates::Lacking>{}};
}

TEST(TemplateReport, NamesEveryMistake) {
  const TemplateCheck check = CheckOf("version = 1\nfoo = 1\n[limits]\npids = 0\n");
  EXPECT_EQ(CheckText(check),
            "caisson.toml:2:1: 'foo' is not known\n"
            "caisson.toml:4:8: 'pids' must be a whole number from 1 to 4194304\n");
  EXPECT_EQ(CheckJson(check),
            "{\"file\":\"caisson.toml\",\"valid\":false,\"mistakes\":[{\"message\":\"caisson.toml:2:1: 'foo' is not "
            "known\",\"line\":2,\"column\":1},{\"message\":\"caisson.toml:4:8: 'pids' must be a whole number from 1 to "
            "4194304\",\"line\":4,\"column\":8}],\"not_yet\":[]}\n");
}

TEST(TemplateReport, NamesWhatIsNotThereYet) {
  const TemplateCheck check = CheckOf("version = 1\n[budget]\n[secrets]\nA = { env = 'A' }\n");
  EXPECT_EQ(CheckText(check),
            "caisson.toml is right.\n\nnot there yet:\n"
            "  caisson.toml:2: the budget of a task\n"
            "  caisson.toml:3: secrets; no sandbox is made of it\n");
  EXPECT_NE(CheckJson(check).find("{\"what\":\"secrets\",\"source\":\"caisson.toml:3\",\"refused\":true}"),
            std::string::npos);
}

TEST(TemplateReport, ShowsWhereEachValueCameFrom) {
  const auto line =
      ParseForTest({"template", "show", "--memory", "1GiB", "--env", "TOKEN=abc"}, {{"CAISSON_PIDS", "7"}});
  ASSERT_TRUE(line) << line.error().message();
  auto content = templates::Read("version = 1\npolicy = 'minimal'\n[env]\nA = 'secret'\nTOKEN = ''\n", "caisson.toml");
  ASSERT_TRUE(content);
  const EffectiveValues values =
      MergeValues(*line, templates::Loaded{std::move(*content), ".", std::nullopt}, std::nullopt);
  const std::vector<ShownValue> shown = ShownValues(values);
  const std::string text = ShowText(shown, values.lacking);
  EXPECT_NE(text.find("memory     1GiB     --memory\n"), std::string::npos) << text;
  EXPECT_NE(text.find("pids       7        CAISSON_PIDS\n"), std::string::npos) << text;
  EXPECT_NE(text.find("policy     minimal  caisson.toml:2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("timeout    30s      default\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("secret"), std::string::npos) << "a variable's value is nobody's business";
  EXPECT_EQ(text.find("abc"), std::string::npos);
  const std::string json = ShowJson(shown, values.lacking);
  EXPECT_NE(json.find("\"memory\":{\"value\":\"1GiB\",\"source\":\"--memory\"}"), std::string::npos) << json;
  EXPECT_NE(json.find("\"env\":{\"A\":{\"source\":\"caisson.toml:4\"},\"TOKEN\":{\"source\":\"--env\"}}"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace caisson::cli
