#include "caisson/rest/infos_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <csignal>

#include "caisson/wire/json_text.h"

namespace caisson::rest {
namespace {

service::SandboxInfo NewSandbox() {
  return {.id = SandboxId::Random(),
          .name = {},
          .reason = {},
          .labels = {},
          .limits = {},
          .image = {},
          .workspace = {},
          .env = {},
          .idle_timeout = {},
          .max_lifetime = {},
          .expires_at = {}};
}

service::CommandInfo NewCommand() {
  return {.id = "cm_x",
          .sandbox = SandboxId::Random(),
          .argv = {},
          .cwd = {},
          .ended_at = {},
          .outcome = {},
          .exit_code = {},
          .signal = {}};
}

TEST(SandboxObject, HasEveryFieldInOrder) {
  service::SandboxInfo info = NewSandbox();
  info.state = sandbox::Lifecycle::kRunning;
  info.image = "host";
  info.policy = {.name = "standard", .digest = "ab"};
  const std::string id = info.id.text();
  EXPECT_EQ(
      wire::JsonLine(SandboxObject(info)),
      "{\"id\":\"" + id +
          "\",\"name\":null,\"state\":\"running\",\"reason\":null,\"tier\":\"process\",\"image\":\"host\","
          "\"workspace\":null,"
          "\"cpus\":2,\"memory_bytes\":2147483648,\"disk_bytes\":5368709120,\"pids\":256,\"command_timeout_ms\":0,"
          "\"storage\":\"btrfs\",\"env\":{},\"labels\":{},\"on_end\":\"delete\",\"idle_timeout_ms\":null,"
          "\"max_lifetime_ms\":null,\"policy\":{\"name\":\"standard\",\"digest\":\"ab\"},\"sources\":null,"
          "\"created_at\":\"1970-01-01T00:00:00.000Z\",\"changed_at\":\"1970-01-01T00:00:00."
          "000Z\","
          "\"expires_at\":null,\"steps\":0,\"commands_running\":0}\n");
  info.workspace_mode = plan::WorkspaceMode::kCopy;
  info.workspace = "/srv/w";
  info.expires_at = 1000;
  boost::json::object object = SandboxObject(info);
  EXPECT_EQ(wire::JsonLine(object["workspace"]), "{\"mode\":\"copy\",\"folder\":\"/srv/w\"}\n");
  EXPECT_EQ(object["expires_at"], "1970-01-01T00:00:01.000Z");
  info.sources = service::ValueSources{{"pids", "--pids"}};
  object = SandboxObject(info);
  EXPECT_EQ(object["sources"].as_object().at("pids"), "--pids");
  EXPECT_EQ(object["sources"].as_object().at("policy"), "default");
}

TEST(CommandObject, HasEveryFieldInOrder) {
  service::CommandInfo info = NewCommand();
  info.argv = {"sh", "-c", "exit 3"};
  info.state = service::CommandState::kEnded;
  info.outcome = "signaled";
  info.signal = SIGTERM;
  const std::string id = info.sandbox.text();
  EXPECT_EQ(wire::JsonLine(CommandObject(info)),
            "{\"id\":\"cm_x\",\"sandbox\":\"" + id +
                "\",\"step\":0,\"state\":\"ended\",\"argv\":[\"sh\",\"-c\",\"exit "
                "3\"],\"cwd\":\"\",\"user\":\"agent\",\"timeout_ms\":0,"
                "\"started_at\":\"1970-01-01T00:00:00.000Z\",\"ended_at\":null,\"stdout_bytes\":0,\"stderr_bytes\":0,"
                "\"outcome\":\"signaled\",\"exit_code\":null,\"signal\":\"SIGTERM\"}\n");
}

TEST(FolderObject, KeepsNamesThatAreNotUtf8) {
  const std::vector<sandbox::FileEntry> entries = {
      {.name = "a", .type = sandbox::FileType::kSymlink, .size_bytes = 1, .mode = 0777, .link_target = "b"},
      {.name = "\xFF", .type = sandbox::FileType::kFile, .size_bytes = 2, .mode = 04755, .link_target = {}}};
  EXPECT_EQ(
      wire::JsonLine(FolderObject(entries)),
      "{\"items\":[{\"name\":\"a\",\"type\":\"symlink\",\"size_bytes\":1,\"mode\":\"0777\","
      "\"modified_at\":\"1970-01-01T00:00:00.000Z\",\"link_target\":\"b\"},{\"name\":\"/w==\",\"encoding\":\"base64\","
      "\"type\":\"file\",\"size_bytes\":2,\"mode\":\"4755\",\"modified_at\":\"1970-01-01T00:00:00.000Z\",\"link_"
      "target\":null}]}\n");
}

}  // namespace
}  // namespace caisson::rest
