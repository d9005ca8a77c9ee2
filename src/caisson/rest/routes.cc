#include "caisson/rest/routes.h"

#include <array>

namespace caisson::rest {
namespace {

using service::Permission;

constexpr Access kRead = Needs(Permission::kReadSandboxes);
constexpr Access kManage = Needs(Permission::kManageSandboxes);
constexpr Access kRun = Needs(Permission::kRunCommands);
constexpr Access kReadFile = Needs(Permission::kReadFiles);
constexpr Access kWriteFile = Needs(Permission::kWriteFiles);
constexpr Access kHealth = OpenToAnyone("who watches over the node asks whether it lives, and has no key");

constexpr Method kGet = Method::kGet;
constexpr Method kPut = Method::kPut;
constexpr Method kPost = Method::kPost;
constexpr Method kDelete = Method::kDelete;
constexpr BodyKind kNone = BodyKind::kNone;
constexpr BodyKind kJson = BodyKind::kJson;
constexpr BodyKind kBytes = BodyKind::kBytes;
constexpr Where kWorker = Where::kWorker;
constexpr Where kHere = Where::kHere;

constexpr std::array kRoutes = {
    Route{kGet, "/healthz", kHealth, kNone, kHere, Health},
    Route{kGet, "/readyz", kHealth, kNone, kWorker, Readiness},
    Route{kGet, "/openapi.json", kRead, kNone, kHere, Description},
    Route{kGet, "/v1/version", kRead, kNone, kHere, Version},
    Route{kPost, "/v1/sandboxes", kManage, kJson, kWorker, CreateSandbox},
    Route{kGet, "/v1/sandboxes", kRead, kNone, kWorker, ListSandboxes},
    Route{kGet, "/v1/sandboxes/{id}", kRead, kNone, kWorker, GetSandbox},
    Route{kDelete, "/v1/sandboxes/{id}", kManage, kNone, kWorker, DeleteSandbox},
    Route{kPost, "/v1/sandboxes/{id}:pause", kManage, kNone, kWorker, PauseSandbox},
    Route{kPost, "/v1/sandboxes/{id}:resume", kManage, kNone, kWorker, ResumeSandbox},
    Route{kPost, "/v1/sandboxes/{id}:stop", kManage, kNone, kWorker, StopSandbox},
    Route{kGet, "/v1/sandboxes/{id}/changes", kReadFile, kNone, kWorker, ListChanges},
    Route{kGet, "/v1/sandboxes/{id}/policy", kRead, kNone, kWorker, GetPolicy},
    Route{kPut, "/v1/sandboxes/{id}/policy", kManage, kJson, kWorker, SetPolicy},
    Route{kPost, "/v1/sandboxes/{id}/tools/{tool}", kRun, kJson, kWorker, CallTool},
    Route{kPost, "/v1/sandboxes/{id}/commands", kRun, kJson, kWorker, StartCommand},
    Route{kGet, "/v1/sandboxes/{id}/commands", kRead, kNone, kWorker, ListCommands},
    Route{kGet, "/v1/sandboxes/{id}/commands/{cid}", kRead, kNone, kWorker, GetCommand},
    Route{kDelete, "/v1/sandboxes/{id}/commands/{cid}", kRun, kNone, kWorker, CancelCommand},
    Route{kGet, "/v1/sandboxes/{id}/commands/{cid}/output", kRun, kNone, kWorker, FollowOutput},
    Route{kPost, "/v1/sandboxes/{id}/commands/{cid}/input", kRun, kBytes, kWorker, WriteInput},
    Route{kPost, "/v1/sandboxes/{id}/commands/{cid}/signal", kRun, kJson, kWorker, SignalCommand},
    Route{kGet, "/v1/sandboxes/{id}/files/{path...}", kReadFile, kNone, kWorker, GetFile},
    Route{kPut, "/v1/sandboxes/{id}/files/{path...}", kWriteFile, kBytes, kWorker, PutFile},
    Route{kDelete, "/v1/sandboxes/{id}/files/{path...}", kWriteFile, kNone, kWorker, DeleteFile},
    Route{kGet, "/v1/events", kRead, kNone, kWorker, FollowEvents},
};

// Two routes that ask for nothing, whatever else the table will hold.
constexpr std::size_t CountOpen() {
  std::size_t open = 0;
  for (const Route& route : kRoutes) open += route.access.is_open() ? 1 : 0;
  return open;
}
static_assert(CountOpen() == 2, "only /healthz and /readyz are open to anyone");

constexpr bool EveryPatternIsAPath() {
  for (const Route& route : kRoutes) {
    if (!route.pattern.starts_with('/') || route.pattern.ends_with('/')) return false;
  }
  return true;
}
static_assert(EveryPatternIsAPath());

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

}  // namespace caisson::rest
