#include "caisson/rest/admission.h"

#include <gtest/gtest.h>

#include "caisson/rest/routes.h"

namespace caisson::rest {
namespace {

const std::vector<ApiKey> kKeys = {{"reader", HashOf("reads"), service::Permission::kReadSandboxes},
                                   {"admin", HashOf("all"), service::kOperator}};
const Door kTcpDoor{.kind = Door::Kind::kTcp, .peer = {}, .port = 80};
const Door kUnixDoor{.kind = Door::Kind::kUnix, .peer = "uid 7", .port = 0};

RequestHead Head(std::string method, std::string target, std::vector<std::pair<std::string, std::string>> fields = {}) {
  RequestHead head{
      .method = std::move(method), .target = std::move(target), .fields = std::move(fields), .content_length = {}};
  if (head.CountOf("host") == 0) head.fields.emplace_back("host", "localhost:80");
  return head;
}

int Status(const RequestHead& head, const Door& door = kTcpDoor) {
  const auto verdict = Admit(head, door, kKeys, Routes(), {});
  return std::holds_alternative<Reply>(verdict) ? std::get<Reply>(verdict).status : 0;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

TEST(Admit, NamesTheCaller) {
  const auto verdict =
      Admit(Head("GET", "/v1/sandboxes?limit=5", {{"authorization", "Bearer reads"}}), kTcpDoor, kKeys, Routes(), {});
  ASSERT_TRUE(std::holds_alternative<Admitted>(verdict));
  const Request& request = std::get<Admitted>(verdict).request;
  EXPECT_EQ(request.caller.name, "reader");
  EXPECT_EQ(request.target, "/v1/sandboxes");
  EXPECT_EQ(request.query, "limit=5");
  const auto at_unix = Admit(Head("GET", "/v1/sandboxes"), kUnixDoor, kKeys, Routes(), {});
  EXPECT_EQ(std::get<Admitted>(at_unix).request.caller.name, "uid 7");
  EXPECT_EQ(std::get<Admitted>(at_unix).request.caller.permissions, service::kOperator);
}

TEST(Admit, WantsAKeyOnEveryRouteButHealth) {
  for (const Route& route : Routes()) {
    std::string target(route.pattern);
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"{id}", "a"},
                                   {"{cid}", "cm_abcdefghijklmnopqrstuvwxyz"},
                                   {"{tool}", "read_file"},
                                   {"{path...}", "x"}}) {
      const std::size_t at = target.find(from);
      if (at != std::string::npos) target.replace(at, from.size(), to);
    }
    const char* const methods[] = {"GET", "PUT", "POST", "DELETE"};
    const std::string method = methods[static_cast<std::size_t>(route.method)];
    const int without = route.access.is_open() ? 0 : 401;
    EXPECT_EQ(Status(Head(method, target)), without) << method << target;
    EXPECT_EQ(Status(Head(method, target, {{"authorization", "Bearer wrong"}})), without) << method << target;
    EXPECT_EQ(Status(Head(method, target + (target.find('?') == std::string::npos ? "?key=all" : ""))), without)
        << "a key in the query";
    const bool reads =
        route.access.is_open() || service::Includes(service::Permission::kReadSandboxes, route.access.permission());
    if (!reads) {
      EXPECT_EQ(Status(Head(method, target, {{"authorization", "Bearer reads"}})), 403) << method << target;
    }
  }
  EXPECT_EQ(Status(Head("GET", "/nothing")), 401) << "a stranger does not learn which paths there are";
  EXPECT_EQ(Status(Head("OPTIONS", "/v1/sandboxes")), 401);
  EXPECT_EQ(Status(Head("GET", "/v1/sandboxes", {{"authorization", "Bearer all"}, {"authorization", "Bearer all"}})),
            401);
}

TEST(Admit, SaysWhatIsNotThere) {
  const Fields key = {{"authorization", "Bearer all"}};
  EXPECT_EQ(Status(Head("GET", "/nothing", key)), 404);
  EXPECT_EQ(Status(Head("GET", "/v1/sandboxes/", key)), 404);
  EXPECT_EQ(Status(Head("OPTIONS", "/v1/sandboxes", key)), 405);
  EXPECT_EQ(Status(Head("GET", "http://localhost:80/healthz", key)), 404);
  EXPECT_EQ(Status(Head("GET", "*", key)), 404);
}

TEST(Admit, KnowsItsHosts) {
  EXPECT_EQ(Status(Head("GET", "/healthz", {{"host", "127.0.0.1:80"}})), 0);
  for (const char* host : {"evil.test:80", "0.0.0.0:80", "[::]:80", "192.168.0.7:80", "localhost", "localhost:81"}) {
    EXPECT_EQ(Status(Head("GET", "/healthz", {{"host", host}})), 421) << host;
  }
  EXPECT_EQ(Status(Head("GET", "/healthz", {{"host", ""}})), 400);
  EXPECT_EQ(Status(Head("GET", "/healthz", {{"host", "localhost:80"}, {"host", "evil.test"}})), 400);
  RequestHead without = Head("GET", "/healthz");
  without.fields.clear();
  EXPECT_EQ(Status(without), 400);
  EXPECT_EQ(Status(Head("GET", "/healthz", {{"host", "anything"}}), kUnixDoor), 0);
}

TEST(Admit, RefusesOtherOrigins) {
  for (const char* origin :
       {"https://evil.test", "null", "http://localhost:1", "http://localhost.evil.test:80", "http://localhost", ""}) {
    EXPECT_EQ(Status(Head("GET", "/healthz", {{"origin", origin}})), 403) << origin;
    EXPECT_EQ(Status(Head("GET", "/healthz", {{"origin", origin}}), kUnixDoor), 403) << origin;
  }
  EXPECT_EQ(Status(Head("GET", "/healthz", {{"origin", "http://localhost:80"}})), 0);
  EXPECT_EQ(Status(Head("GET", "/healthz", {{"origin", "http://localhost:80"}, {"origin", "https://evil.test"}})), 403);
}

TEST(Admit, WantsTheRightKindOfBody) {
  const auto with = [](std::string method, std::string target, Fields fields, std::uint64_t length) {
    RequestHead head = Head(std::move(method), std::move(target), std::move(fields));
    head.content_length = length;
    return Status(head, kUnixDoor);
  };
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "application/json"}}, 2), 0);
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "Application/JSON; charset=utf-8"}}, 2), 0);
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                           "application/jsonx", "", "text/plain, application/json"}) {
    EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", type}}, 2), 415) << type;
  }
  EXPECT_EQ(with("POST", "/v1/sandboxes", {}, 2), 415);
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "application/json"}, {"content-type", "text/plain"}}, 2),
            415);
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "application/json"}, {"content-encoding", "gzip"}}, 2),
            415);
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "application/json"}}, MiB(2).value), 0);
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "application/json"}}, MiB(2).value + 1), 413);
  EXPECT_EQ(with("PUT", "/v1/sandboxes/a/files/x", {{"content-type", "application/octet-stream"}}, MiB(16).value), 0);
  EXPECT_EQ(with("PUT", "/v1/sandboxes/a/files/x", {{"content-type", "application/octet-stream"}}, MiB(16).value + 1),
            413);
  EXPECT_EQ(with("PUT", "/v1/sandboxes/a/files/x", {}, 0), 0) << "an empty file";
  EXPECT_EQ(with("PUT", "/v1/sandboxes/a/files/x", {}, 5), 415);
  EXPECT_EQ(with("GET", "/v1/sandboxes", {}, 5), 400);
  EXPECT_EQ(with("POST", "/v1/sandboxes/a:pause", {}, 0), 0);
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "application/json"}, {"expect", "100-continue"}}, 2), 0);
  EXPECT_EQ(with("POST", "/v1/sandboxes", {{"content-type", "application/json"}, {"expect", "miracles"}}, 2), 417);
}

TEST(Admit, WantsEachFieldOnce) {
  for (const char* name : {"idempotency-key", "last-event-id", "range"}) {
    EXPECT_EQ(Status(Head("GET", "/healthz", {{name, "a"}, {name, "b"}})), 400) << name;
    EXPECT_EQ(Status(Head("GET", "/healthz", {{name, "a"}})), 0) << name;
  }
}

TEST(Admit, BoundsTheTarget) {
  EXPECT_EQ(Status(Head("GET", "/healthz?" + std::string(KiB(8).value, 'x'))), 414);
  RequestHead old = Head("GET", "/healthz");
  old.version = 10;
  EXPECT_EQ(Status(old), 505);
}

}  // namespace
}  // namespace caisson::rest
