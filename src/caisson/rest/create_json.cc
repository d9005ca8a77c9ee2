#include <cmath>

#include "caisson/base/utf8.h"
#include "caisson/json/object_reader.h"
#include "caisson/plan/limits.h"
#include "caisson/rest/query.h"
#include "caisson/rest/requests_json.h"
#include "caisson/rest/sourced_fields.h"

namespace caisson::rest {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62U;
constexpr milliseconds kLongest = std::chrono::hours(24) * 366;
constexpr std::size_t kMostLabels = 64;
constexpr std::size_t kLongestLabel = 255;
constexpr std::size_t kMostFilterLabels = 16;
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kLongestTicket = 255;
constexpr std::size_t kLongestCursor = 1024;
constexpr std::size_t kLongestIdempotencyKey = 255;

void ReadLimits(json::ObjectReader& body, service::CreateRequest& request) {
  if (const auto cpus = body.Number("cpus", 0.01, 1024)) {
    request.limits.cpus = {static_cast<std::uint32_t>(std::lround(*cpus * 1000))};
  }
  if (const auto bytes = body.Count("memory_bytes", plan::kLeastMemory.value, kMostBytes))
    request.limits.memory = {*bytes};
  if (const auto bytes = body.Count("disk_bytes", plan::kLeastDisk.value, kMostBytes)) request.limits.disk = {*bytes};
  if (const auto pids = body.Count("pids", 1, plan::kMostPids)) request.limits.pids = static_cast<std::uint32_t>(*pids);
  if (const auto time = body.Milliseconds("command_timeout_ms", milliseconds(1), kLongest)) {
    request.command_timeout = *time;
  }
  request.idle_timeout = body.Milliseconds("idle_timeout_ms", milliseconds(1), kLongest);
  request.max_lifetime = body.Milliseconds("max_lifetime_ms", milliseconds(1), kLongest);
}

void ReadStorage(json::ObjectReader& body, service::CreateRequest& request) {
  constexpr plan::Storage kStorages[] = {plan::Storage::kTmpfs, plan::Storage::kBtrfs, plan::Storage::kDirectory};
  if (const auto chosen = body.Choice("storage", {"tmpfs", "btrfs", "directory"})) request.storage = kStorages[*chosen];
  constexpr service::OnEnd kOnEnds[] = {service::OnEnd::kDelete, service::OnEnd::kKeep};
  if (const auto chosen = body.Choice("on_end", {"delete", "keep"})) request.on_end = kOnEnds[*chosen];
}

std::optional<std::string> ReadTicket(json::ObjectReader& object) {
  std::optional<std::string> ticket = object.Text("ticket", kLongestTicket);
  if (!ticket || ticket->empty()) object.Refuse("ticket", "must name a folder that was deposited");
  return ticket;
}

void ReadFolders(json::ObjectReader& body, service::CreateRequest& request) {
  if (body.IsText("image")) {
    (void)body.Choice("image", {"host"});
  } else if (auto image = body.Object("image")) {
    request.image_ticket = ReadTicket(*image);
    (void)image->Finish();
  }
  if (auto workspace = body.Object("workspace")) {
    constexpr plan::WorkspaceMode kModes[] = {plan::WorkspaceMode::kCopy, plan::WorkspaceMode::kReadOnly,
                                              plan::WorkspaceMode::kReadWrite};
    request.workspace_ticket = ReadTicket(*workspace);
    const auto chosen = workspace->Choice("mode", {"copy", "ro", "rw"});
    request.workspace_mode = kModes[chosen.value_or(0)];
    (void)workspace->Finish();
  }
}

Status CheckIdempotencyKey(const std::optional<std::string>& key) {
  if (!key) return {};
  bool visible = !key->empty() && key->size() <= kLongestIdempotencyKey;
  for (const char c : *key) visible = visible && c > ' ' && c < 0x7F;
  if (visible) return {};
  return Fail(Error(Code::kInvalidArgument, "the field Idempotency-Key must be 1 to 255 visible ASCII characters"));
}

}  // namespace

Result<service::CreateRequest> ReadCreate(std::string_view body, const std::optional<std::string>& idempotency_key) {
  service::CreateRequest request;
  CAISSON_CHECK_OK(CheckIdempotencyKey(idempotency_key));
  request.idempotency_key = idempotency_key;
  CAISSON_CHECK_OK(json::ReadObject(body, [&](json::ObjectReader& reader) {
    request.name = reader.Text("name", kLongestName);
    for (auto& [key, value] : reader.Pairs("labels", kMostLabels, kLongestLabel)) request.labels[key] = value;
    ReadLimits(reader, request);
    ReadStorage(reader, request);
    request.env = reader.Pairs("env", plan::kMostVariables, plan::kLongestArgument);
    ReadFolders(reader, request);
    if (auto policy = reader.Object("policy")) {
      request.policy = ReadPolicyFields(*policy);
      (void)policy->Finish();
    }
    request.sources = ReadSources(reader);
  }));
  return request;
}

Result<service::ListRequest> ReadList(std::string_view query) {
  service::ListRequest request;
  QueryReader reader(query);
  if (const auto state = reader.Text("state")) {
    request.state = sandbox::ParseLifecycle(*state);
    if (!request.state) reader.Refuse("state", "must be a state of a sandbox, for example running");
  }
  const std::vector<std::string> labels = reader.Each("label");
  if (labels.size() > kMostFilterLabels) reader.Refuse("label", "is given more than 16 times");
  for (const std::string& label : labels) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0 || CountCharacters(label.substr(0, equals)) > kLongestLabel ||
        CountCharacters(label.substr(equals + 1)) > kLongestLabel) {
      reader.Refuse("label", "must be NAME=VALUE, each at most 255 characters");
    } else {
      request.labels.emplace(label.substr(0, equals), label.substr(equals + 1));
    }
  }
  request.limit = static_cast<std::uint32_t>(reader.Count("limit", 1, 1000, request.limit));
  request.cursor = reader.Text("cursor");
  if (request.cursor && request.cursor->size() > kLongestCursor) reader.Refuse("cursor", "is none that was given out");
  CAISSON_CHECK_OK(reader.Finish());
  return request;
}

}  // namespace caisson::rest
