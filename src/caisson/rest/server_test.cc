#include <gtest/gtest.h>

#include <unistd.h>

#include <boost/json.hpp>
#include <thread>

#include "caisson/rest/server_fixture.h"

namespace caisson::rest {
namespace {

boost::json::object Body(const Received& received) {
  boost::json::error_code ec;
  boost::json::value value = boost::json::parse(received.body, ec);
  EXPECT_FALSE(ec) << received.body;
  return value.is_object() ? value.get_object() : boost::json::object();
}

std::string Text(const boost::json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : "no text";
}

class RestServer : public ServerTest {};

TEST_F(RestServer, IsHealthy) {
  Start();
  const Received health = Ask(RequestText("GET", "/healthz"));
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.body, "{\"status\":\"ok\"}\n");
  EXPECT_EQ(health.fields.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(Ask(RequestText("GET", "/readyz")).status, 200);
  service_.SetNotReady("the store is full");
  const Received not_ready = Ask(RequestText("GET", "/readyz"));
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_EQ(Body(not_ready)["cause"], "the store is full");
  EXPECT_EQ(Ask(RequestText("GET", "/openapi.json")).body, "{\"openapi\":\"3.1.0\"}");
  EXPECT_EQ(Body(Ask(RequestText("GET", "/v1/version")))["version"], "1.2.3");
}

TEST_F(RestServer, TakesSandboxesThroughTheirLife) {
  Start();
  Client client = Connect();
  const Received made = client.Ask(JsonRequest("POST", "/v1/sandboxes", R"({"name":"one","labels":{"a":"b"}})"));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id = Text(Body(made)["id"]);
  EXPECT_EQ(made.fields.at("location"), "/v1/sandboxes/" + id);
  EXPECT_EQ(service_.LastCaller(), "uid " + std::to_string(getuid()));
  EXPECT_EQ(Body(client.Ask(RequestText("GET", "/v1/sandboxes/" + id)))["name"], "one");
  EXPECT_EQ(Body(client.Ask(RequestText("POST", "/v1/sandboxes/one:pause")))["state"], "paused");
  EXPECT_EQ(Body(client.Ask(RequestText("POST", "/v1/sandboxes/one:resume")))["state"], "running");
  EXPECT_EQ(Body(client.Ask(RequestText("POST", "/v1/sandboxes/one:stop")))["state"], "stopped");
  EXPECT_EQ(client.Ask(RequestText("POST", "/v1/sandboxes/one:end")).status, 404);
  EXPECT_EQ(Body(client.Ask(RequestText("DELETE", "/v1/sandboxes/one")))["state"], "deleted");
  service_.AddSandbox("two");
  boost::json::object page = Body(client.Ask(RequestText("GET", "/v1/sandboxes?limit=1")));
  EXPECT_EQ(page["items"].as_array().size(), 1U);
  EXPECT_TRUE(page["next_cursor"].is_string());
  EXPECT_EQ(client.Ask(RequestText("GET", "/v1/sandboxes/three")).status, 404);
  EXPECT_EQ(client.Ask(RequestText("GET", "/v1/sandboxes?limt=1")).status, 400);
}

TEST_F(RestServer, ToldErrorsAreProblems) {
  Start();
  service_.FailCreate(Error(Code::kResourceExhausted, "no room").Detail("retry_after_ms", "2500").Retryable());
  const Received full = Ask(JsonRequest("POST", "/v1/sandboxes", "{}"));
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(full.fields.at("retry-after"), "3");
  EXPECT_EQ(full.fields.at("content-type"), "application/problem+json");
  const Received wrong = Ask(JsonRequest("POST", "/v1/sandboxes", R"({"memroy_bytes":1})"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(Body(wrong)["remediation"], "did you mean 'memory_bytes'?");
  EXPECT_EQ(Body(wrong)["details"].at("pointer"), "/memroy_bytes");
  EXPECT_EQ(Ask(JsonRequest("POST", "/v1/sandboxes", R"({"name":"a","name":"b"})")).status, 400);
  EXPECT_EQ(Ask(JsonRequest("POST", "/v1/sandboxes", "\xEF\xBB\xBF{}")).status, 400);
}

TEST_F(RestServer, RunsACommandAndAnswersWithItsResult) {
  Start();
  service_.AddSandbox("one");
  const Received ran = Ask(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["echo","hello"]})"));
  ASSERT_EQ(ran.status, 200) << ran.body;
  EXPECT_EQ(Body(ran)["outcome"], "exited");
  EXPECT_EQ(Body(ran)["stdout"], "hello");
  EXPECT_EQ(Body(ran)["step"], 1);

  Client client = Connect();
  ASSERT_TRUE(client.Send(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["sleep"]})")));
  const std::string command = service_.AwaitCommand(2);
  service_.End(command, sandbox::Exited{7});
  EXPECT_EQ(Body(client.Receive())["exit_code"], 7);
}

constexpr const char* kTool = "/v1/sandboxes/one/tools/run_command";

TEST_F(RestServer, RunsATool) {
  Start();
  service_.AddSandbox("one");
  boost::json::object ran = Body(Ask(JsonRequest("POST", kTool, R"({"command":"echo hello"})")));
  EXPECT_EQ(ran["outcome"], "exited");
  EXPECT_EQ(ran["stdout"], "hello");
  EXPECT_TRUE(Text(ran["data"].at("command_id")).starts_with("cm_"));
  EXPECT_EQ(ran["decision"].at("rule"), "memory");
  boost::json::object denied = Body(Ask(JsonRequest("POST", kTool, R"({"command":"deny","background":true})")));
  EXPECT_EQ(denied["outcome"], "denied") << "what is refused does not go on";
  EXPECT_EQ(denied["decision"].at("effect"), "deny");
  boost::json::object begun = Body(Ask(JsonRequest("POST", kTool, R"({"argv":["cat"],"background":true})")));
  EXPECT_EQ(begun["outcome"], "completed");
  EXPECT_TRUE(begun["exit_code"].is_null());
  const std::string command = Text(begun["data"].at("command_id"));
  EXPECT_EQ(Body(Ask(RequestText("GET", "/v1/sandboxes/one/commands/" + command)))["state"], "running");
  EXPECT_EQ(Ask(JsonRequest("POST", kTool, R"({"command":"ls","comand":"ls"})")).status, 400);
  EXPECT_EQ(Ask(JsonRequest("POST", "/v1/sandboxes/two/tools/run_command", R"({"command":"ls"})")).status, 404);
  EXPECT_EQ(Ask(JsonRequest("POST", "/v1/sandboxes/one/tools/no_tool", "{}")).status, 404);
}

TEST_F(RestServer, CancelsAToolWhoseClientHasGone) {
  Start();
  service_.AddSandbox("one");
  {
    Client client = Connect();
    ASSERT_TRUE(client.Send(JsonRequest("POST", kTool, R"({"command":"sleep"})")));
    (void)service_.AwaitCommand(1);
  }
  service_.AwaitCancels(1);
}

TEST_F(RestServer, GivesASandboxAnotherPolicy) {
  Start();
  service_.AddSandbox("one");
  boost::json::object set = Body(Ask(JsonRequest("PUT", "/v1/sandboxes/one/policy", R"({"preset":"minimal"})")));
  EXPECT_EQ(set["preset"], "minimal");
  EXPECT_EQ(Body(Ask(RequestText("GET", "/v1/sandboxes/one/policy"))), set);
  set = Body(Ask(JsonRequest("PUT", "/v1/sandboxes/one/policy", R"({"text":"version = 1"})")));
  EXPECT_TRUE(set["preset"].is_null());
  EXPECT_EQ(set["text"], "version = 1");
  EXPECT_EQ(Ask(JsonRequest("PUT", "/v1/sandboxes/one/policy", "{}")).status, 400);
  EXPECT_EQ(Ask(JsonRequest("PUT", "/v1/sandboxes/two/policy", R"({"preset":"open"})")).status, 404);
}

TEST_F(RestServer, CancelsACommandWhoseClientHasGone) {
  Start();
  service_.AddSandbox("one");
  {
    Client client = Connect();
    ASSERT_TRUE(client.Send(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["sleep"]})")));
    (void)service_.AwaitCommand(1);
    EXPECT_EQ(service_.Cancels(), 0U);
  }
  service_.AwaitCancels(1);
  EXPECT_TRUE(AwaitConnections(0));
}

// A command of sandbox `one` in the background, with an open input.
Received Begin(Client& client, const std::string& program) {
  return client.Ask(JsonRequest("POST", "/v1/sandboxes/one/commands",
                                R"({"argv":[")" + program + R"("],"input":"open","background":true})"));
}

constexpr const char* kOctets = "Content-Type: application/octet-stream\r\n";

TEST_F(RestServer, HandlesBackgroundCommands) {
  Start();
  service_.AddSandbox("one");
  Client client = Connect();
  const Received begun = Begin(client, "cat");
  ASSERT_EQ(begun.status, 201) << begun.body;
  const std::string id = Text(Body(begun)["id"]);
  const std::string at = "/v1/sandboxes/one/commands/" + id;
  EXPECT_TRUE(begun.fields.at("location").ends_with("/commands/" + id));
  EXPECT_EQ(Body(begun)["state"], "running");
  EXPECT_TRUE(Body(client.Ask(RequestText("GET", at)))["result"].is_null());
  EXPECT_EQ(client.Ask(RequestText("POST", at + "/input", kOctets, std::string("a\0b", 3))).body,
            "{\"accepted_bytes\":3}\n");
  EXPECT_EQ(client.Ask(RequestText("POST", at + "/input?close=true", kOctets, "c")).body, "{\"accepted_bytes\":1}\n");
  EXPECT_EQ(service_.InputOf(id), std::string("a\0bc<end>", 9));
  EXPECT_EQ(client.Ask(RequestText("POST", at + "/input", kOctets, "d")).status, 409);
  EXPECT_EQ(client.Ask(JsonRequest("POST", at + "/signal", R"({"signal":"SIGTERM"})")).status, 204);
  const Received ended = client.Ask(RequestText("GET", at));
  EXPECT_EQ(Body(ended)["state"], "ended");
  EXPECT_EQ(Body(ended)["result"].at("signal"), "SIGTERM");
  EXPECT_EQ(Body(client.Ask(RequestText("GET", "/v1/sandboxes/one/commands")))["items"].as_array().size(), 1U);

  const Received second =
      client.Ask(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["cat"],"background":true})"));
  const Received cancelled =
      client.Ask(RequestText("DELETE", "/v1/sandboxes/one/commands/" + Text(Body(second)["id"])));
  EXPECT_EQ(Body(cancelled)["outcome"], "cancelled");
}

TEST_F(RestServer, ClosesTheInputOfACommandThatEndsWithWhatItIsGiven) {
  Start();
  service_.AddSandbox("one");
  Client client = Connect();
  const std::string id = Text(Body(Begin(client, "head"))["id"]);
  const std::string at = "/v1/sandboxes/one/commands/" + id + "/input?close=true";
  const Received given = client.Ask(RequestText("POST", at, kOctets, "line"));
  EXPECT_EQ(given.status, 200) << given.body;
  EXPECT_EQ(given.body, "{\"accepted_bytes\":4}\n");
  EXPECT_EQ(client.Ask(RequestText("POST", at, kOctets, "")).status, 409) << "it has ended";
}

TEST_F(RestServer, MovesFiles) {
  Start();
  service_.AddSandbox("one");
  Client client = Connect();
  const std::string at = "/v1/sandboxes/one/files/home/agent/a%20b";
  EXPECT_EQ(client.Ask(RequestText("PUT", at, kOctets, "0123456789")).body, "{\"wrote\":\"created\"}\n");
  EXPECT_EQ(
      client
          .Ask(RequestText("PUT", at + "?if_exists=append", std::string(kOctets) + "Transfer-Encoding: chunked\r\n") +
               "3\r\nabc\r\n0\r\n\r\n")
          .body,
      "{\"wrote\":\"appended\"}\n");
  EXPECT_EQ(client.Ask(RequestText("PUT", at + "?if_exists=fail", kOctets, "x")).status, 409);
  const Received whole = client.Ask(RequestText("GET", at));
  EXPECT_EQ(whole.body, "0123456789abc");
  EXPECT_EQ(whole.fields.at("content-disposition"), "attachment");
  const Received part = client.Ask(RequestText("GET", at, "Range: bytes=2-4\r\n"));
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.fields.at("content-range"), "bytes 2-4/13");
  EXPECT_EQ(client.Ask(RequestText("GET", at, "Range: bytes=-2\r\n")).body, "bc");
  const Received beyond = client.Ask(RequestText("GET", at, "Range: bytes=13-\r\n"));
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.fields.at("content-range"), "bytes */13");
  const Received head = client.Ask(RequestText("HEAD", at));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.fields.at("content-length"), "13");
  EXPECT_EQ(Body(client.Ask(RequestText("GET", "/v1/sandboxes/one/files/home/agent?list")))["items"].as_array().size(),
            1U);
  EXPECT_EQ(Body(client.Ask(RequestText("GET", "/v1/sandboxes/one/changes")))["items"].as_array().size(), 1U);
  EXPECT_EQ(client.Ask(RequestText("DELETE", at)).status, 204);
  EXPECT_EQ(client.Ask(RequestText("GET", at)).status, 404);
  for (const char* path : {"a//b", "../etc/passwd", "%2e%2e/x", "a%00b", "a/", "%ff"}) {
    EXPECT_EQ(client.Ask(RequestText("GET", "/v1/sandboxes/one/files/" + std::string(path))).status, 400) << path;
  }
}

TEST_F(RestServer, SendsLargeAndEmptyFilesWhole) {
  Start();
  service_.AddSandbox("one");
  std::string large;
  while (large.size() < 5'000'000) large += std::to_string(large.size()) + ",";
  service_.AddFile("/large", large);
  service_.AddFile("/empty", "");
  Client client = Connect();
  const Received got = client.Ask(RequestText("GET", "/v1/sandboxes/one/files/large"));
  EXPECT_TRUE(got.is_whole);
  EXPECT_EQ(got.body, large);
  EXPECT_EQ(client.Ask(RequestText("GET", "/v1/sandboxes/one/files/large", "Range: bytes=1000000-3500000\r\n")).body,
            large.substr(1'000'000, 2'500'001));
  const Received empty = client.Ask(RequestText("GET", "/v1/sandboxes/one/files/empty"));
  EXPECT_EQ(empty.status, 200);
  EXPECT_TRUE(empty.is_whole);
  EXPECT_EQ(empty.body, "");
}

TEST_F(RestServer, WantsAKeyOverTcp) {
  Start();
  const std::string host = HostField();
  const std::string key = "Authorization: Bearer " + std::string(kKey) + "\r\n";
  EXPECT_EQ(ConnectTcp().Ask(RequestText("GET", "/healthz", host)).status, 200);
  const Received without = ConnectTcp().Ask(RequestText("GET", "/v1/sandboxes", host));
  EXPECT_EQ(without.status, 401);
  EXPECT_EQ(without.fields.at("www-authenticate"), "Bearer realm=\"caisson\"");
  EXPECT_EQ(ConnectTcp().Ask(RequestText("GET", "/v1/sandboxes?key=" + std::string(kKey), host)).status, 401);
  EXPECT_EQ(ConnectTcp().Ask(RequestText("GET", "/v1/sandboxes", host + key)).status, 200);
  EXPECT_EQ(service_.LastCaller(), "admin");
  const std::string reader = "Authorization: Bearer " + std::string(kReaderKey) + "\r\n";
  EXPECT_EQ(ConnectTcp().Ask(RequestText("GET", "/v1/sandboxes", host + reader)).status, 200);
  EXPECT_EQ(ConnectTcp().Ask(JsonRequest("POST", "/v1/sandboxes", "{}", host + reader)).status, 403);
  EXPECT_EQ(ConnectTcp().Ask(RequestText("GET", "/healthz", "Host: evil.test\r\n")).status, 421);
  const Received foreign =
      ConnectTcp().Ask(RequestText("OPTIONS", "/v1/sandboxes", host + key + "Origin: https://evil.test\r\n"));
  EXPECT_EQ(foreign.status, 403);
  for (const auto& [name, value] : foreign.fields) EXPECT_FALSE(name.starts_with("access-control")) << name;
}

TEST_F(RestServer, AnswersPipelinedRequestsInOrder) {
  Start();
  service_.AddSandbox("one");
  Client client = Connect();
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["echo",")" + std::to_string(i) + "\"]}");
  }
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Text(Body(client.Receive())["stdout"]), std::to_string(i));
}

TEST_F(RestServer, ClosesWhenAsked) {
  Start();
  Client client = Connect();
  const Received last = client.Ask(RequestText("GET", "/healthz", "Connection: close\r\n"));
  EXPECT_EQ(last.fields.at("connection"), "close");
  EXPECT_TRUE(client.IsClosed());
  EXPECT_TRUE(AwaitConnections(0));
}

TEST_F(RestServer, RefusesSmuggledRequests) {
  Start();
  for (const char* text :
       {"POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
        "2\r\nContent-Length: 40\r\n\r\n{}",
        "POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
        "5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n", "GET /healthz HTTP/1.1\nHost: x\n\n",
        "\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n",
        "GET /heal\rthz HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\x02"}) {
    Client client = Connect();
    const Received received = client.Ask(text);
    EXPECT_EQ(received.status, 400) << text;
  }
  EXPECT_EQ(service_.CallCount(), 0U);
}

TEST_F(RestServer, ForgetsNoByteBetweenRequests) {
  Start();
  Client client = Connect();
  const std::string request = JsonRequest("POST", "/v1/sandboxes", R"({"name":"slow"})");
  for (const char c : request) ASSERT_TRUE(client.Send(std::string(1, c)));
  EXPECT_EQ(client.Receive().status, 201);
  // A refused head does not end the connection when it has no body.
  EXPECT_EQ(client.Ask(RequestText("GET", "/nothing")).status, 404);
  EXPECT_EQ(client.Ask(RequestText("GET", "/healthz")).status, 200);
  // A refused body does: what follows cannot be told from it.
  EXPECT_EQ(client.Ask(RequestText("POST", "/v1/sandboxes", "Content-Type: text/plain\r\n", "{}")).status, 415);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(RestServer, SaysWhenToSendABody) {
  Start();
  Client client = Connect();
  ASSERT_TRUE(
      client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                  "2\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(client.ReceiveUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.Ask("{}").status, 201);
}

TEST_F(RestServer, StopsAfterItsRequests) {
  Start();
  service_.AddSandbox("one");
  Client idle = Connect();
  EXPECT_EQ(idle.Ask(RequestText("GET", "/healthz")).status, 200);
  Client busy = Connect();
  ASSERT_TRUE(busy.Send(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["sleep"]})")));
  const std::string command = service_.AwaitCommand(1);
  std::thread stop([&] { server_->Stop(); });
  EXPECT_TRUE(idle.IsClosed());
  service_.End(command, sandbox::Exited{0});
  const Received last = busy.Receive();
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(last.fields.at("connection"), "close");
  stop.join();
  EXPECT_EQ(server_->connections(), 0U);
  EXPECT_NE(access((folder_ + "/s").c_str(), F_OK), 0);
}

TEST_F(RestServer, DropsRequestsThatOutliveItsStop) {
  ServerLimits limits;
  limits.stop_time = std::chrono::milliseconds(50);
  Start(limits);
  service_.AddSandbox("one");
  Client busy = Connect();
  ASSERT_TRUE(busy.Send(JsonRequest("POST", "/v1/sandboxes/one/commands", R"({"argv":["sleep"]})")));
  (void)service_.AwaitCommand(1);
  server_->Stop();
  EXPECT_TRUE(busy.IsClosed());
  EXPECT_EQ(service_.Cancels(), 1U) << "what nobody waits for is cancelled";
}

TEST(RestServerOptions, WantAKeyForTcp) {
  MemoryService service;
  ServerOptions options;
  options.tcp_port = 0;
  const auto server = Server::Start(std::move(options), service);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(Server::Start(ServerOptions{}, service)) << "nothing to listen on";
}

}  // namespace
}  // namespace caisson::rest
