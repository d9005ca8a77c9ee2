#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/rest/reply.h"
#include "caisson/rest/request.h"
#include "caisson/service/caller.h"
#include "caisson/service/service.h"

namespace caisson::rest {

// What a handler works with. Borrowed.
struct Node {
  service::Service& service;
  std::string_view version;  // of this program
  std::string_view openapi;  // the text of the interface's description
  Bytes stream_piece;        // of output read ahead for one client
};

// Answers one request. Blocks as the service does; called from many threads.
using Handler = Result<Answer> (*)(const Node& node, const Request& request);

// What a route asks of its caller. There is no default, and no other way to ask for nothing than OpenToAnyone.
class Access {
 public:
  constexpr service::Permission permission() const { return permission_; }
  constexpr bool is_open() const { return permission_ == service::Permission::kNone; }

 private:
  friend consteval Access Needs(service::Permission permission);
  friend consteval Access OpenToAnyone(std::string_view reason);
  explicit constexpr Access(service::Permission permission) : permission_(permission) {}

  service::Permission permission_;
};
// Does not compile with Permission::kNone.
consteval Access Needs(service::Permission permission) {
  if (permission == service::Permission::kNone) throw "a route declares a permission, or OpenToAnyone with a reason";
  return Access(permission);
}
// Whoever reaches the server may ask this, without a key.
consteval Access OpenToAnyone(std::string_view reason) {
  if (reason.empty()) throw "OpenToAnyone needs a reason";
  return Access(service::Permission::kNone);
}

enum class BodyKind : std::uint8_t {
  kNone,   // a request with a body is refused
  kJson,   // application/json
  kBytes,  // application/octet-stream
};
// On a worker, or at once on the thread of all connections: what never blocks.
enum class Where : std::uint8_t { kWorker, kHere };

// `{id}` stands for one part of 1 to 63 of [a-z0-9_-], `{cid}` for a command's id, `{path...}` at the end for the rest.
struct Route {
  Method method;
  std::string_view pattern;
  Access access;
  BodyKind body;
  Where where;
  Handler handler;
};

struct NoRoute {};
struct OtherMethods {
  std::string allow;  // "GET, HEAD, DELETE"
};
// Sets the parts of `request` that the path names. The path is compared as it was sent: case matters, and nothing is
// decoded or normalised.
std::variant<const Route*, NoRoute, OtherMethods> FindRoute(std::span<const Route> routes, std::string_view method,
                                                            std::string_view path, Request& request);

}  // namespace caisson::rest
