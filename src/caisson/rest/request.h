#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "caisson/service/caller.h"

namespace caisson::rest {

// HEAD is GET of which only the head is sent.
enum class Method : std::uint8_t { kGet, kPut, kPost, kDelete };

// One request, as a handler sees it: admitted, with its body whole.
struct Request {
  service::Caller caller;
  Method method = Method::kGet;
  std::string target;   // the path as it was sent, without the query
  std::string sandbox;  // what stood for {id}; its form is checked
  std::string command;  // for {cid}
  std::string tool;     // for {tool}
  std::string file;     // for {path...}, as it was sent
  std::string query;    // as it was sent
  std::optional<std::string> accept;
  std::optional<std::string> range;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> last_event_id;
  std::string body;
};

// Whether a field `Accept` lets `type` through, with or without a quality of its own. No field lets everything through.
bool Accepts(const std::optional<std::string>& field, std::string_view type);

}  // namespace caisson::rest
