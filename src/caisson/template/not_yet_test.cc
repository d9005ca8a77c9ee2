#include <gtest/gtest.h>

#include "caisson/template/profile.h"
#include "caisson/template/read.h"
#include "caisson/template/settings.h"

namespace caisson::templates {
namespace {

std::vector<Lacking> LackingOf(std::string_view text) {
  const Result<Template> read = Read("version = 1\n" + std::string(text), "caisson.toml");
  EXPECT_TRUE(read) << read.error().message();
  return read ? read->NotYet() : std::vector<Lacking>{};
}

// What using it says.
std::string UseOf(std::string_view text) {
  const Result<Template> read = Read("version = 1\n" + std::string(text), "caisson.toml");
  if (!read) return read.error().message();
  const Layer settings = SettingsOf(*read, ".");
  const auto tier = settings.find("tier");
  const Status use = CheckUse(read->NotYet(), tier == settings.end() ? nullptr : &tier->second);
  if (use) return "accepted";
  EXPECT_EQ(use.error().code(), Code::kUnsupported);
  return use.error().message();
}

TEST(NotYet, IsEmptyForWhatWorks) {
  EXPECT_TRUE(
      LackingOf("image = './root'\ntier = 'process'\nuser = 'root'\non_end = 'keep'\nidle_timeout = '1m'\n"
                "audit = 'on'\n[packages]\napt = []\n[limits]\ncpus = 2\ninodes = 0\noutput = '1MiB'\n[env]\nA = '1'")
          .empty());
}

TEST(NotYet, IsANoticeForWhatOnlyLacks) {
  const auto lacking = LackingOf(
      "toolset = 'coding'\n[budget]\ncommands = 1\n[monitor]\n[checkpoint]\n[[tool]]\nname = "
      "'a'\ndescription = 'd'\nargv = ['x']\neffect = 'read'");
  ASSERT_EQ(lacking.size(), 5U);
  EXPECT_EQ(lacking[0].source, "caisson.toml:2");
  for (const Lacking& one : lacking) EXPECT_EQ(one.use, Lacking::Use::kNotice) << one.what;
  EXPECT_TRUE(CheckUse(lacking, nullptr));
}

TEST(NotYet, RefusesWhatMustNotBeIgnored) {
  EXPECT_EQ(UseOf("tier = 'gvisor'"), "caisson.toml:2: not there yet: the tier 'gvisor'");
  EXPECT_EQ(UseOf("tier = 'wasm'"), "caisson.toml:2: not there yet: the tier 'wasm'");
  EXPECT_EQ(UseOf("audit = 'required'"), "caisson.toml:2: not there yet: an audit that a sandbox does not run without");
  EXPECT_EQ(UseOf("[secrets]\nA = { env = 'A' }"), "caisson.toml:2: not there yet: secrets");
  EXPECT_EQ(UseOf("[packages]\napt = ['git']"),
            "caisson.toml:2: not there yet: packages that are installed into the image");
  for (const std::string_view text : {"image = 'debian:12.7'", "image = 'latest'", "image = 'root'",
                                      "on_end = 'snapshot'", "workspace = '/work'", "[limits]\ninodes = 5"}) {
    EXPECT_TRUE(UseOf(text).starts_with("caisson.toml:")) << text;
  }
}

TEST(Profiles, ThatNeedAnotherTierAreRefusedNamingIt) {
  for (const char* name : {"personal", "team"}) {
    const auto profile = FindProfile(name);
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->policy, "standard");
    EXPECT_TRUE(CheckUse(profile->NotYet(), nullptr)) << name;
  }
  EXPECT_TRUE(FindProfile("personal")->NotYet().empty());
  EXPECT_FALSE(FindProfile("team")->NotYet().empty()) << "its network is none for now";
  const Status production = CheckUse(FindProfile("production")->NotYet(), nullptr);
  ASSERT_FALSE(production);
  EXPECT_EQ(production.error().code(), Code::kUnsupported);
  EXPECT_NE(production.error().message().find("gvisor"), std::string::npos);
  // An option cannot lower what a profile promises.
  const Setting process{"process", "--tier"};
  const Status lowered = CheckUse(FindProfile("high-security")->NotYet(), &process);
  ASSERT_FALSE(lowered);
  EXPECT_NE(lowered.error().message().find("microvm"), std::string::npos);
  const auto unknown = FindProfile("Team");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().cause().find("'team'"), std::string::npos);
}

}  // namespace
}  // namespace caisson::templates
