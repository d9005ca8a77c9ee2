#include <gtest/gtest.h>

#include "caisson/client/commands.h"
#include "caisson/client/files.h"
#include "caisson/client/sandboxes.h"
#include "caisson/client/scripted_node.h"
#include "caisson/client/tools.h"

namespace caisson::client {
namespace {

constexpr const char* kBytes = "application/octet-stream";

std::string FirstLine(const std::string& request) { return request.substr(0, request.find("\r\n")); }
std::string BodyOf(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

CreateRequest Example() {
  CreateRequest request;
  request.name = "web";
  request.labels = {{"team", "a"}};
  request.cpus = {500};
  request.memory = MiB(512);
  request.pids = 64;
  request.command_timeout = std::chrono::seconds(30);
  request.storage = "btrfs";
  request.env = {{"A", "1"}};
  request.workspace_ticket = "t";
  request.workspace_mode = "ro";
  request.idle_timeout = std::chrono::minutes(15);
  request.sources = {{"pids", "--pids"}};
  return request;
}

TEST(CreateSandbox, SaysWhatIsWanted) {
  ScriptedNode node;
  node.Add(
      201,
      R"({"id":"sb_a","name":"web","state":"running","reason":"","image":"host","storage":"btrfs",)"
      R"("created_at":"2027-01-31T09:30:00.125Z","labels":{"team":"a"},"sources":{"pids":"--pids"},"commands_running":0})");
  Http http(node.endpoint());
  const auto made = CreateSandbox(http, Example());
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->id, "sb_a");
  EXPECT_EQ(made->name, "web");
  EXPECT_EQ(made->labels.at("team"), "a");
  EXPECT_EQ(made->sources.at("pids"), "--pids");
  const auto requests = node.Requests(1);
  EXPECT_EQ(FirstLine(requests[0]), "POST /v1/sandboxes HTTP/1.1");
  EXPECT_EQ(BodyOf(requests[0]),
            R"({"name":"web","labels":{"team":"a"},"cpus":5E-1,"memory_bytes":536870912,"pids":64,)"
            R"("command_timeout_ms":30000,"storage":"btrfs","env":{"A":"1"},"workspace":{"ticket":"t","mode":"ro"},)"
            R"("idle_timeout_ms":900000,"sources":{"pids":"--pids"}})");
}

TEST(CreateBody, CarriesTextOnly) {
  CreateRequest request = Example();
  request.env = {{"A", "\xFF"}};
  EXPECT_FALSE(CreateBody(request));
  StartRequest start;
  start.argv = {"ls", "\xFF"};
  EXPECT_FALSE(StartBody(start));
  start.argv = {"ls"};
  start.timeout = std::chrono::seconds(1);
  EXPECT_EQ(StartBody(start).value(),
            R"({"argv":["ls"],"env":{},"user":"agent","timeout_ms":1000,"input":"none","background":true})");
}

TEST(CreateBody, CarriesAPolicy) {
  CreateRequest request = Example();
  request.policy = PolicyText{.preset = "minimal"};
  EXPECT_NE(CreateBody(request)->find(R"("policy":{"preset":"minimal"})"), std::string::npos);
  request.policy = PolicyText{.text = "version = 1\n", .format = "toml", .name = "a.toml"};
  EXPECT_NE(CreateBody(request)->find(R"("policy":{"text":"version = 1\n","format":"toml","name":"a.toml"})"),
            std::string::npos);
  request.policy->text = "\xFF";
  EXPECT_EQ(CreateBody(request).error().code(), Code::kInvalidArgument);
}

TEST(CallTool, GivesTheInputAndTakesTheResult) {
  ScriptedNode node;
  node.Add(200, R"({"outcome":"denied","step":3})");
  node.Add(200, R"({"step":3})");
  node.Add(400, R"({"code":"invalid_argument","message":"no"})", "application/problem+json");
  Http http(node.endpoint());
  const std::string input = R"({"command": "ls"})";
  const auto result = CallTool(http, "web", "run_command", input);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(*result, R"({"outcome":"denied","step":3})");
  EXPECT_EQ(CallTool(http, "web", "run_command", input).error().code(), Code::kInternal);
  EXPECT_EQ(CallTool(http, "web", "run_command", input).error().code(), Code::kInvalidArgument);
  for (const char* wrong : {"", "ls", "[]", "{", "null", "{} {}"}) {
    EXPECT_EQ(CallTool(http, "web", "run_command", wrong).error().code(), Code::kInvalidArgument) << wrong;
  }
  const auto requests = node.Requests(3);
  EXPECT_EQ(requests.size(), 3U) << "what is no input is not sent";
  EXPECT_EQ(FirstLine(requests[0]), "POST /v1/sandboxes/web/tools/run_command HTTP/1.1");
  EXPECT_EQ(BodyOf(requests[0]), input);
}

TEST(ListSandboxes, GoesThroughThePages) {
  ScriptedNode node;
  node.Add(200, R"({"items":[{"id":"sb_a","state":"running"}],"next_cursor":"x/y"})");
  node.Add(200, R"({"items":[{"id":"sb_b","state":"stopped"}],"next_cursor":null})");
  Http http(node.endpoint());
  const auto all = ListSandboxes(http, "running");
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[1].id, "sb_b");
  EXPECT_FALSE((*all)[1].name);
  EXPECT_EQ(FirstLine(node.Requests(2)[1]), "GET /v1/sandboxes?limit=1000&state=running&cursor=x%2Fy HTTP/1.1");
}

TEST(ListSandboxes, EndsWithAPageThatLeadsNowhere) {
  ScriptedNode node;
  node.Add(200, R"({"items":[],"next_cursor":"x"})");
  Http http(node.endpoint());
  EXPECT_TRUE(ListSandboxes(http, std::nullopt)->empty());
}

TEST(Calls, RefuseAnswersThatAreNone) {
  for (const char* body : {"", "[]", "{}", R"({"items":7})", R"({"items":[7]})", R"({"items":[{}]})"}) {
    ScriptedNode node;
    for (int i = 0; i < 5; ++i) node.Add(200, body);
    Http http(node.endpoint());
    EXPECT_FALSE(GetSandbox(http, "web")) << body;
    EXPECT_FALSE(ListSandboxes(http, std::nullopt)) << body;
    EXPECT_FALSE(ListCommands(http, "web")) << body;
    EXPECT_FALSE(GetCommand(http, "web", "cm_a")) << body;
    EXPECT_FALSE(ReadResult(body)) << body;
  }
}

TEST(ReadResult, SaysWhatAPolicyDecided) {
  const auto plain = ReadResult(R"({"outcome":"exited","exit_code":0,"decision":null,"hints":[]})");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->decision);
  const auto denied = ReadResult(
      R"({"outcome":"denied","decision":{"effect":"deny","rule":"r","source":"p:1","reason":"so"},"hints":[]})");
  ASSERT_TRUE(denied && denied->decision);
  EXPECT_EQ(denied->decision->effect + denied->decision->rule + denied->decision->source + denied->decision->reason,
            "denyrp:1so");
}

TEST(Files, AskForParts) {
  ScriptedNode node;
  node.Add({{ReplyText(206, "abc", kBytes, "Content-Range: bytes 0-2/9\r\n")}});
  node.Add({{ReplyText(416, R"({"code":"invalid_argument","message":"m"})", "application/problem+json")}});
  node.Add({{ReplyText(200, "whole", kBytes)}});
  node.Add({{ReplyText(200, "whole", kBytes)}});
  Http http(node.endpoint());
  const auto part = ReadFile(http, "web", "/home/a b", 0);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->bytes, "abc");
  EXPECT_EQ(part->size_bytes, 9U);
  EXPECT_EQ(ReadFile(http, "web", "/e", 0)->size_bytes, 0U);
  EXPECT_EQ(ReadFile(http, "web", "/f", 0)->size_bytes, 5U);
  EXPECT_FALSE(ReadFile(http, "web", "/f", 16)) << "not the part that was asked for";
  const auto requests = node.Requests(4);
  EXPECT_EQ(FirstLine(requests[0]), "GET /v1/sandboxes/web/files/home/a%20b HTTP/1.1");
  EXPECT_NE(requests[0].find("Range: bytes=0-16777215\r\n"), std::string::npos);
}

TEST(Files, ListAndWrite) {
  ScriptedNode node;
  node.Add(200, R"({"items":[{"name":"x","type":"file","size_bytes":3,"mode":"0755","link_target":null},)"
                R"({"name":"/w==","encoding":"base64","type":"symlink","size_bytes":0,"mode":"0777"}]})");
  node.Add(200, R"({"wrote":"appended"})");
  Http http(node.endpoint());
  const auto entries = ListFolder(http, "web", "/");
  ASSERT_TRUE(entries) << entries.error().message();
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].mode, 0755U);
  EXPECT_EQ((*entries)[1].name, "\xFF");
  EXPECT_TRUE(WriteFile(http, "web", "/a", "bytes", IfExists::kAppend));
  const auto requests = node.Requests(2);
  EXPECT_EQ(FirstLine(requests[0]), "GET /v1/sandboxes/web/files/?list HTTP/1.1");
  EXPECT_EQ(FirstLine(requests[1]), "PUT /v1/sandboxes/web/files/a?if_exists=append HTTP/1.1");
  EXPECT_EQ(BodyOf(requests[1]), "bytes");
}

TEST(Commands, SignalAndCancel) {
  ScriptedNode node;
  node.Add({{"HTTP/1.1 204 No Content\r\n\r\n"}});
  node.Add(200, R"({"id":"cm_a"})");
  node.Add(200, R"({"accepted_bytes":9})");
  Http http(node.endpoint());
  EXPECT_TRUE(SignalCommand(http, "web", "cm_a", "SIGINT"));
  EXPECT_TRUE(CancelCommand(http, "web", "cm_a"));
  EXPECT_FALSE(WriteInput(http, "web", "cm_a", "x", Close::kNo)) << "more was taken than given";
  const auto requests = node.Requests(3);
  EXPECT_EQ(BodyOf(requests[0]), R"({"signal":"SIGINT"})");
  EXPECT_EQ(FirstLine(requests[1]), "DELETE /v1/sandboxes/web/commands/cm_a HTTP/1.1");
}

}  // namespace
}  // namespace caisson::client
