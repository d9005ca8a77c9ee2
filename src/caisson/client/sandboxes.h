#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/client/http.h"
#include "caisson/client/policy_text.h"

namespace caisson::client {

// What can be asked of a node about its sandboxes, as api/openapi.yaml has it. A sandbox is named by its id, by a
// beginning of it that only one has, or by its name. Errors of each: those of Http::Ask; kInternal for an answer that
// is not understood.

struct CreateRequest {
  std::optional<std::string> name;
  std::map<std::string, std::string> labels;
  MilliCpus cpus{};
  Bytes memory{};
  Bytes disk{};
  std::uint32_t pids = 0;
  std::chrono::milliseconds command_timeout{};
  std::string storage;  // "tmpfs", "btrfs", "directory"
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::string> image_ticket;  // absent: the image `host`
  std::optional<std::string> workspace_ticket;
  std::string workspace_mode;  // "copy", "ro", "rw"
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::optional<std::chrono::milliseconds> max_lifetime;
  std::string on_end = "delete";                    // or "keep"
  std::optional<PolicyText> policy;                 // absent: the node's default
  std::map<std::string, std::string> sources = {};  // where values came from, by the node's names of them
};

struct SandboxView {
  std::string id;
  std::optional<std::string> name;
  std::string state;
  std::string reason;
  std::string image;
  std::string storage;
  std::string created_at;  // RFC 3339
  std::map<std::string, std::string> labels;
  std::int64_t commands_running = 0;
  std::map<std::string, std::string> sources = {};  // as of CreateRequest; empty: not known
  std::string json;                                 // all of it
};

// The body of the request. Errors: kInvalidArgument when a text is not UTF-8, which JSON cannot carry.
Result<std::string> CreateBody(const CreateRequest& request);

Result<SandboxView> CreateSandbox(Http& http, const CreateRequest& request);
Result<SandboxView> GetSandbox(Http& http, std::string_view sandbox);
// Every page of the list, at most kMostListed. `state`: only those in it; absent: what the node lists by itself.
inline constexpr std::size_t kMostListed = 100'000;
Result<std::vector<SandboxView>> ListSandboxes(Http& http, const std::optional<std::string>& state);
// `verb`: "pause", "resume" or "stop".
Result<SandboxView> ChangeSandbox(Http& http, std::string_view sandbox, std::string_view verb);
Result<SandboxView> DeleteSandbox(Http& http, std::string_view sandbox);

}  // namespace caisson::client
