#include "caisson/tool/catalogue.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "caisson/tool/read_call.h"

namespace caisson::tool {
namespace {

boost::json::value Parsed(Format format) { return boost::json::parse(Describe(format)); }

TEST(Catalogue, HoldsTheToolsThatThereAre) {
  const std::set<std::string> effects = {"read", "change", "destroy", "execute"};
  std::set<std::string> names;
  for (const Entry& entry : Entries()) {
    names.insert(entry.name);
    EXPECT_FALSE(entry.title.empty()) << entry.name;
    EXPECT_TRUE(effects.contains(entry.effect)) << entry.name;
    const auto call = ReadCall(entry.name, "{}");
    EXPECT_TRUE(call || call.error().code() != Code::kNotFound) << entry.name;
  }
  EXPECT_EQ(names.size(), std::variant_size_v<Call>);
}

TEST(Catalogue, TakesTheFormOfEachProvider) {
  const std::size_t count = Entries().size();
  const auto mcp = Parsed(Format::kMcp).at("tools").as_array();
  ASSERT_EQ(mcp.size(), count);
  EXPECT_EQ(mcp[0].at("inputSchema").at("type"), "object");
  EXPECT_TRUE(mcp[0].at("annotations").at("readOnlyHint").is_bool());
  const auto open_ai = Parsed(Format::kOpenAi).as_array();
  ASSERT_EQ(open_ai.size(), count);
  EXPECT_EQ(open_ai[0].at("type"), "function");
  EXPECT_FALSE(open_ai[0].at("function").at("parameters").as_object().contains("$schema"));
  const auto anthropic = Parsed(Format::kAnthropic).as_array();
  ASSERT_EQ(anthropic.size(), count);
  EXPECT_EQ(anthropic[0].at("input_schema").at("type"), "object");
  const auto gemini = Parsed(Format::kGemini).as_array();
  ASSERT_EQ(gemini.size(), 1U);
  EXPECT_EQ(gemini[0].at("functionDeclarations").as_array().size(), count);
  EXPECT_EQ(Parsed(Format::kWhole).as_array().at(0).at("effect"), "change");
}

}  // namespace
}  // namespace caisson::tool
