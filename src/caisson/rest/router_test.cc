#include "caisson/rest/router.h"

#include <gtest/gtest.h>

#include <set>

#include "caisson/rest/routes.h"

namespace caisson::rest {
namespace {

constexpr const char* kCommandId = "cm_abcdefghijklmnopqrstuvwxyz";

bool Matches(std::string_view method, const std::string& path, Request& request) {
  return std::holds_alternative<const Route*>(FindRoute(Routes(), method, path, request));
}

bool IsNowhere(const std::string& path) {
  Request request;
  return std::holds_alternative<NoRoute>(FindRoute(Routes(), "GET", path, request));
}

TEST(FindRoute, TakesThePartsOfThePath) {
  Request request;
  ASSERT_TRUE(Matches("POST", "/v1/sandboxes/build-1:pause", request));
  EXPECT_EQ(request.sandbox, "build-1");
  ASSERT_TRUE(Matches("GET", std::string("/v1/sandboxes/sb_a/commands/") + kCommandId + "/output", request));
  EXPECT_EQ(request.sandbox, "sb_a");
  EXPECT_EQ(request.command, kCommandId);
  ASSERT_TRUE(Matches("PUT", "/v1/sandboxes/sb_a/files/home/agent/a%20b", request));
  EXPECT_EQ(request.file, "home/agent/a%20b");
  ASSERT_TRUE(Matches("HEAD", "/v1/sandboxes/sb_a/files/x", request));
  EXPECT_EQ(request.method, Method::kGet);
  ASSERT_TRUE(Matches("GET", "/v1/sandboxes/sb_a/files/", request));
  EXPECT_EQ(request.file, "");
}

TEST(FindRoute, NormalisesNothing) {
  for (const char* path : {"",
                           "/",
                           "healthz",
                           "/healthz/",
                           "//healthz",
                           "/Healthz",
                           "/healthz;x",
                           "/./healthz",
                           "/x/../healthz",
                           "/%68ealthz",
                           "/v1",
                           "/v1/",
                           "/v1/sandboxes/",
                           "/V1/sandboxes",
                           "/v1//sandboxes",
                           "/v1/sandboxes;a=b",
                           "/v1/sandboxes/A",
                           "/v1/sandboxes/a.b",
                           "/v1/sandboxes/..",
                           "/v1/sandboxes/a%2Fb",
                           "/v1/sandboxes/%61",
                           "/v1/sandboxes/a:pauseX",
                           "/v1/sandboxes/:pause",
                           "/v1/sandboxes/a/files",
                           "/v1/sandboxes/a/commands/",
                           "/v1/sandboxes/a/commands/x",
                           "/v1/sandboxes/a/commands/cm_ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                           "/v1/sandboxes/a/commands/cm_abcdefghijklmnopqrstuvwxy1",
                           "/v1/sandboxes/a/changes/",
                           "/v1/sandboxes//changes",
                           "/v1/sandboxes/a/changes/x"}) {
    EXPECT_TRUE(IsNowhere(path)) << path;
  }
  EXPECT_TRUE(IsNowhere("/v1/sandboxes/" + std::string(64, 'a')));
}

TEST(FindRoute, SaysWhichMethodsThereAre) {
  Request request;
  for (const char* method : {"POST", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "G"}) {
    const auto found = FindRoute(Routes(), method, "/healthz", request);
    ASSERT_TRUE(std::holds_alternative<OtherMethods>(found)) << method;
    EXPECT_EQ(std::get<OtherMethods>(found).allow, "GET, HEAD");
  }
  const auto found = FindRoute(Routes(), "PUT", "/v1/sandboxes", request);
  EXPECT_EQ(std::get<OtherMethods>(found).allow, "POST, GET, HEAD");
}

TEST(Routes, AreEachThereOnce) {
  std::set<std::pair<Method, std::string_view>> seen;
  for (const Route& route : Routes()) EXPECT_TRUE(seen.emplace(route.method, route.pattern).second) << route.pattern;
}

TEST(Routes, AreOpenOnlyForHealth) {
  for (const Route& route : Routes()) {
    EXPECT_EQ(route.access.is_open(), route.pattern == "/healthz" || route.pattern == "/readyz") << route.pattern;
    // Whatever changes something is behind a method that a link or an image does not use.
    if (route.access.permission() == service::Permission::kManageSandboxes) {
      EXPECT_NE(route.method, Method::kGet);
    }
  }
}

}  // namespace
}  // namespace caisson::rest
