#include "caisson/rest/router.h"

#include <algorithm>
#include <optional>

namespace caisson::rest {
namespace {

constexpr std::size_t kLongestName = 63;
constexpr std::string_view kCommandPrefix = "cm_";
constexpr std::size_t kCommandLength = 29;

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kLongestName) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; });
}

bool IsCommandId(std::string_view text) {
  if (text.size() != kCommandLength || !text.starts_with(kCommandPrefix)) return false;
  text.remove_prefix(kCommandPrefix.size());
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

std::string_view TakePart(std::string_view& path) {
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), part.size() + 1));
  return part;
}

// One part against one part of the pattern, such as `{id}:pause`.
bool MatchPart(std::string_view pattern, std::string_view part, Request& request) {
  constexpr std::string_view kId = "{id}";
  if (pattern == "{cid}") {
    request.command = part;
    return IsCommandId(part);
  }
  if (pattern == "{tool}") {
    request.tool = part;
    return IsName(part);
  }
  if (!pattern.starts_with(kId)) return pattern == part;
  pattern.remove_prefix(kId.size());
  if (!part.ends_with(pattern)) return false;
  part.remove_suffix(pattern.size());
  request.sandbox = part;
  return IsName(part);
}

bool MatchPath(std::string_view pattern, std::string_view path, Request& request) {
  if (path.empty() || path.front() != '/') return false;
  pattern.remove_prefix(1);
  path.remove_prefix(1);
  while (!pattern.empty()) {
    const bool more_of_pattern = pattern.find('/') != std::string_view::npos;
    const bool more_of_path = path.find('/') != std::string_view::npos;
    if (pattern == "{path...}") {
      request.file = path;
      return true;
    }
    if (more_of_pattern != more_of_path) return false;
    const std::string_view wanted = TakePart(pattern);
    if (!MatchPart(wanted, TakePart(path), request)) return false;
  }
  return path.empty();
}

std::optional<Method> MethodOf(std::string_view name) {
  if (name == "GET" || name == "HEAD") return Method::kGet;
  if (name == "PUT") return Method::kPut;
  if (name == "POST") return Method::kPost;
  if (name == "DELETE") return Method::kDelete;
  return std::nullopt;
}

std::string_view AllowText(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET, HEAD";
    case Method::kPut:
      return "PUT";
    case Method::kPost:
      return "POST";
    case Method::kDelete:
      return "DELETE";
  }
  return "";
}

}  // namespace

std::variant<const Route*, NoRoute, OtherMethods> FindRoute(std::span<const Route> routes, std::string_view method,
                                                            std::string_view path, Request& request) {
  const std::optional<Method> wanted = MethodOf(method);
  OtherMethods others;
  for (const Route& route : routes) {
    Request parts;
    if (!MatchPath(route.pattern, path, parts)) continue;
    if (wanted == route.method) {
      request.method = route.method;
      request.sandbox = std::move(parts.sandbox);
      request.command = std::move(parts.command);
      request.tool = std::move(parts.tool);
      request.file = std::move(parts.file);
      return &route;
    }
    if (!others.allow.empty()) others.allow += ", ";
    others.allow += AllowText(route.method);
  }
  if (others.allow.empty()) return NoRoute{};
  return others;
}

}  // namespace caisson::rest
