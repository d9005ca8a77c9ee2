#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cstdio>

#include "caisson/base/time_text.h"
#include "caisson/rest/infos_json.h"
#include "caisson/rest/sourced_fields.h"

namespace caisson::rest {
namespace {

const char* ModeName(plan::WorkspaceMode mode) {
  switch (mode) {
    case plan::WorkspaceMode::kNone:
      return "none";
    case plan::WorkspaceMode::kCopy:
      return "copy";
    case plan::WorkspaceMode::kReadOnly:
      return "ro";
    case plan::WorkspaceMode::kReadWrite:
      return "rw";
  }
  return "none";
}

const char* StorageName(plan::Storage storage) {
  switch (storage) {
    case plan::Storage::kTmpfs:
      return "tmpfs";
    case plan::Storage::kDirectory:
      return "directory";
    case plan::Storage::kBtrfs:
      return "btrfs";
  }
  return "directory";
}

boost::json::value MillisecondsOrNull(const std::optional<std::chrono::milliseconds>& time) {
  if (!time) return nullptr;
  return time->count();
}

boost::json::value TextOrNull(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  return boost::json::value(*text);
}

template <typename Pairs>
boost::json::object PairsObject(const Pairs& pairs) {
  boost::json::object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

}  // namespace

boost::json::object SandboxObject(const service::SandboxInfo& info) {
  boost::json::object object;
  object["id"] = info.id.text();
  object["name"] = TextOrNull(info.name);
  object["state"] = std::string(sandbox::LifecycleName(info.state));
  object["reason"] = info.reason.empty() ? boost::json::value(nullptr) : boost::json::value(info.reason);
  object["tier"] = "process";
  object["image"] = info.image;
  object["workspace"] = nullptr;
  if (info.workspace_mode != plan::WorkspaceMode::kNone) {
    object["workspace"] = boost::json::object{{"mode", ModeName(info.workspace_mode)}, {"folder", info.workspace}};
  }
  object["cpus"] = info.limits.cpus.value / 1000.0;
  object["memory_bytes"] = info.limits.memory.value;
  object["disk_bytes"] = info.limits.disk.value;
  object["pids"] = info.limits.pids;
  object["command_timeout_ms"] = info.command_timeout.count();
  object["storage"] = StorageName(info.storage);
  object["env"] = PairsObject(info.env);
  object["labels"] = PairsObject(info.labels);
  object["on_end"] = info.on_end == service::OnEnd::kDelete ? "delete" : "keep";
  object["idle_timeout_ms"] = MillisecondsOrNull(info.idle_timeout);
  object["max_lifetime_ms"] = MillisecondsOrNull(info.max_lifetime);
  object["policy"] = boost::json::object{{"name", info.policy.name}, {"digest", info.policy.digest}};
  object["sources"] = SourcesValue(info.sources);
  object["created_at"] = TimeText(info.created_at);
  object["changed_at"] = TimeText(info.changed_at);
  object["expires_at"] = nullptr;
  if (info.expires_at) object["expires_at"] = TimeText(*info.expires_at);
  object["steps"] = info.steps;
  object["commands_running"] = info.commands_running;
  return object;
}

boost::json::object PolicyObject(const service::PolicyInfo& info) {
  const bool is_preset = info.origin == service::PolicyInfo::Origin::kPreset;
  return {{"name", info.name},
          {"preset", is_preset ? boost::json::value(info.name) : boost::json::value(nullptr)},
          {"digest", info.digest},
          {"format", info.format == document::Format::kJson ? "json" : "toml"},
          {"text", info.text}};
}

boost::json::object SandboxPage(const service::Page<service::SandboxInfo>& page) {
  boost::json::array items;
  for (const service::SandboxInfo& info : page.items) items.push_back(SandboxObject(info));
  return {{"items", std::move(items)}, {"next_cursor", TextOrNull(page.next_cursor)}};
}

}  // namespace caisson::rest
