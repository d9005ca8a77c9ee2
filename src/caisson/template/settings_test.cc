#include "caisson/template/settings.h"

#include <gtest/gtest.h>

#include "caisson/template/read.h"

namespace caisson::templates {
namespace {

Layer Settings(std::string_view text, std::string_view folder) {
  const Result<Template> read = Read("version = 1\n" + std::string(text), "caisson.toml");
  EXPECT_TRUE(read) << read.error().message();
  return read ? SettingsOf(*read, folder) : Layer{};
}

TEST(Settings, AreWrittenAsOptionsTakeThem) {
  const Layer layer = Settings(
      "image = 'host'\ntier = 'process'\nuser = 'root'\non_end = 'keep'\nidle_timeout = '90m'\nmax_lifetime = '24h'\n"
      "[limits]\ncpus = 0.25\nmemory = '1.5GiB'\ndisk = 2000000\ntimeout = '1500ms'\npids = 7",
      "/srv");
  EXPECT_EQ(layer.at("image").text, "host");
  EXPECT_EQ(layer.at("tier").text, "process");
  EXPECT_EQ(layer.at("user").text, "root");
  EXPECT_EQ(layer.at("on-end").text, "keep");
  EXPECT_EQ(layer.at("idle-timeout").text, "90m");
  EXPECT_EQ(layer.at("max-lifetime").text, "24h");
  EXPECT_EQ(layer.at("cpus").text, "0.25");
  EXPECT_EQ(layer.at("memory").text, "1536MiB");
  EXPECT_EQ(layer.at("memory").source, "caisson.toml:10");
  EXPECT_EQ(layer.at("disk").text, "2000000");
  EXPECT_EQ(layer.at("timeout").text, "1500ms");
  EXPECT_EQ(layer.at("pids").text, "7");
  EXPECT_EQ(layer.size(), 11U) << "nothing that was left out";
}

TEST(Settings, TakeAnImageFromTheFolderOfTheTemplate) {
  EXPECT_EQ(Settings("image = './root'", "/srv").at("image").text, "/srv/./root");
  EXPECT_EQ(Settings("image = '../root'", "a/b").at("image").text, "a/b/../root");
  EXPECT_EQ(Settings("image = './root'", ".").at("image").text, "./root");
  EXPECT_EQ(Settings("image = '/root'", "/srv").at("image").text, "/root");
}

TEST(Settings, OfAProfileNameIt) {
  const Layer layer = SettingsOf(*FindProfile("team"));
  EXPECT_EQ(layer.at("policy").text, "standard");
  EXPECT_EQ(layer.at("policy").source, "profile team");
  EXPECT_EQ(layer.at("network").text, "none");
}

}  // namespace
}  // namespace caisson::templates
