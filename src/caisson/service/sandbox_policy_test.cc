#include "caisson/service/sandbox_policy.h"

#include <gtest/gtest.h>

#include "caisson/policy/compile.h"

namespace caisson::service {
namespace {

constexpr const char* kPolicy = R"toml(
version = 1
default = "deny"

[[rule]]
name = "look"
effect = "allow"
actions = ["process.exec"]
commands = ["ls"]
)toml";

PolicyRequest Text(std::string text, document::Format format = document::Format::kToml) {
  return {.text = std::move(text), .format = format, .name = "mine.toml"};
}

TEST(CheckPolicy, IsStandardWhenNoneIsGiven) {
  const auto checked = CheckPolicy({});
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_EQ(checked->record.name.name, "standard");
  EXPECT_EQ(checked->record.format, "preset");
  EXPECT_EQ(DefaultPolicy()->name.digest, checked->record.name.digest);
}

TEST(CheckPolicy, EveryPresetComesBackFromItsRecord) {
  for (const std::string_view name : policy::Policy::PresetNames()) {
    const auto checked = CheckPolicy(PolicyRequest{.preset = std::string(name)});
    if (!checked && checked.error().code() == Code::kUnsupported) continue;  // this kernel cannot hold it
    ASSERT_TRUE(checked) << name << checked.error().message();
    const auto read = PolicyOf(checked->record);
    ASSERT_TRUE(read) << name;
    EXPECT_EQ(read->digest(), checked->policy.digest());
    EXPECT_EQ(read->name(), name);
    EXPECT_EQ(InfoOf(checked->record).origin, PolicyInfo::Origin::kPreset);
  }
}

TEST(CheckPolicy, WhatIsNotReadOnlyCanBeHeldByTheOldestKernel) {
  for (const std::string_view name : {"open", "standard", "minimal", "strict"}) {
    const auto preset = policy::Policy::Preset(name);
    ASSERT_TRUE(preset) << name;
    const Status held = policy::CheckEnforceable(*preset, {.controls_truncation = false});
    EXPECT_TRUE(held) << name << ": " << held.error().message();
  }
}

TEST(CheckPolicy, ATextComesBackFromItsRecord) {
  const auto checked = CheckPolicy(Text(kPolicy));
  ASSERT_TRUE(checked) << checked.error().message();
  const auto read = PolicyOf(checked->record);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->digest(), checked->policy.digest());
  EXPECT_EQ(read->rules().front().source, "mine.toml:5");
  const PolicyInfo info = InfoOf(checked->record);
  EXPECT_EQ(info.name, "mine.toml");
  EXPECT_EQ(info.text, kPolicy);
  EXPECT_EQ(info.origin, PolicyInfo::Origin::kText);
  EXPECT_EQ(info.format, document::Format::kToml);
}

TEST(CheckPolicy, JsonComesBackAsJson) {
  const auto checked = CheckPolicy(Text(R"({"version": 1, "default": "ask"})", document::Format::kJson));
  ASSERT_TRUE(checked) << checked.error().message();
  EXPECT_EQ(InfoOf(checked->record).format, document::Format::kJson);
  EXPECT_EQ(PolicyOf(checked->record)->digest(), checked->policy.digest());
}

TEST(CheckPolicy, AMistakeIsNamedWithItsPlace) {
  const auto refused = CheckPolicy(Text("version = 1\ndefault = \"maybe\"\n"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_NE((refused.error().message() + refused.error().cause()).find("mine.toml:2"), std::string::npos)
      << refused.error().message();
  EXPECT_EQ(CheckPolicy(PolicyRequest{.preset = "standart"}).error().code(), Code::kInvalidArgument);
}

TEST(CheckPolicy, ItsNameIsOneLine) {
  for (const std::string& name : {std::string(), std::string("a\nb"), std::string(256, 'a'), std::string("\xff")}) {
    PolicyRequest request = Text(kPolicy);
    request.name = name;
    const auto refused = CheckPolicy(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  }
}

TEST(PolicyOf, APresetStaysWhatItWasWhenThisProgramHasAnother) {
  auto record = CheckPolicy(Text(kPolicy))->record;
  record.format = "preset";
  record.name.name = "standard";
  const auto read = PolicyOf(record);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->digest(), record.name.digest);
  EXPECT_EQ(read->rules().front().source, "preset standard:5");
}

TEST(CheckExecution, RefusesNamedProgramsWhereAnyFileCanBeExecuted) {
  const auto minimal = CheckPolicy(PolicyRequest{.preset = "minimal"})->policy;
  const auto standard = CheckPolicy({})->policy;
  const Status refused = CheckExecution(plan::Execution::kAnywhere, minimal);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kConflict);
  EXPECT_TRUE(CheckExecution(plan::Execution::kAnywhere, standard));
  EXPECT_TRUE(CheckExecution(plan::Execution::kProgramFolders, standard));
  EXPECT_TRUE(CheckExecution(plan::Execution::kProgramFolders, minimal));
}

}  // namespace
}  // namespace caisson::service
