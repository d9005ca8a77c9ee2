#include "caisson/rest/admission.h"

#include <algorithm>

#include "caisson/base/utf8.h"
#include "caisson/rest/field_text.h"
#include "caisson/rest/problem.h"

namespace caisson::rest {
namespace {

std::optional<Reply> CheckDoor(const RequestHead& head, const Door& door) {
  if (head.version != 11) return Problem(505, Error(Code::kUnsupported, "only HTTP/1.1 is spoken here"));
  const std::optional<std::string> host = head.One("host");
  if (!host || host->empty()) {
    return Problem(400, Error(Code::kInvalidArgument, "the request must have one field Host"));
  }
  const bool is_tcp = door.kind == Door::Kind::kTcp;
  if (is_tcp && !IsOurHost(*host, door.port)) {
    return Problem(421, Error(Code::kInvalidArgument, "the request is for another host")
                            .Remedy("use http://127.0.0.1:" + std::to_string(door.port)));
  }
  for (const std::string_view name : {"idempotency-key", "last-event-id", "range", "expect"}) {
    if (head.CountOf(name) > 1) {
      return Problem(400, Error(Code::kInvalidArgument, "the field " + std::string(name) + " is there twice"));
    }
  }
  if (head.CountOf("origin") == 0) return std::nullopt;
  const std::optional<std::string> origin = head.One("origin");
  if (is_tcp && origin && IsSameOrigin(*origin, *host)) return std::nullopt;
  return Problem(403, Error(Code::kPermissionDenied, "pages of other origins may not use this server"));
}

std::optional<service::Caller> FindCaller(const RequestHead& head, const Door& door, const std::vector<ApiKey>& keys) {
  if (door.kind == Door::Kind::kUnix) {
    return service::Caller{.name = door.peer, .permissions = service::kOperator, .face = service::Face::kRest};
  }
  const std::optional<std::string> authorization = head.One("authorization");
  if (!authorization) return std::nullopt;
  return CallerOf(keys, *authorization);
}

Reply Unauthorized() {
  Reply reply = Problem(401, Error(Code::kPermissionDenied, "the request needs a key")
                                 .Remedy("send it in the field Authorization: Bearer KEY"));
  reply.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"caisson\"");
  return reply;
}

Reply NotAllowed(const std::string& allow) {
  Reply reply = Problem(405, Error(Code::kUnsupported, "the method is not allowed here").Because("there are " + allow));
  reply.fields.emplace_back("Allow", allow);
  return reply;
}

std::optional<Reply> CheckKind(const RequestHead& head, BodyKind kind) {
  if (kind == BodyKind::kNone) {
    if (!head.has_body()) return std::nullopt;
    return Problem(400, Error(Code::kInvalidArgument, "this request takes no body"));
  }
  const char* const wanted = kind == BodyKind::kJson ? "application/json" : "application/octet-stream";
  const std::optional<std::string> type = head.One("content-type");
  const bool is_wanted = type && MediaType(*type) == wanted;
  const bool nothing_sent = kind == BodyKind::kBytes && !head.has_body() && head.CountOf("content-type") == 0;
  if (!is_wanted && !nothing_sent) {
    return Problem(415, Error(Code::kInvalidArgument, "the body has the wrong type")
                            .Remedy(std::string("send Content-Type: ") + wanted));
  }
  const std::size_t codings = head.CountOf("content-encoding");
  if (codings > 0 && !EqualText(head.One("content-encoding").value_or(""), "identity")) {
    return Problem(415, Error(Code::kInvalidArgument, "the body must not be compressed"));
  }
  return std::nullopt;
}

std::optional<Reply> CheckBody(const RequestHead& head, BodyKind kind, Bytes limit) {
  if (std::optional<Reply> reply = CheckKind(head, kind)) return reply;
  if (head.content_length.value_or(0) > limit.value) {
    return Problem(413, Error(Code::kInvalidArgument, "the body is larger than " + FormatBytes(limit)));
  }
  if (head.CountOf("expect") > 0 && !EqualText(head.One("expect").value_or(""), "100-continue")) {
    return Problem(417, Error(Code::kInvalidArgument, "the field Expect must be 100-continue"));
  }
  return std::nullopt;
}

Bytes LimitOf(BodyKind kind, const ServerLimits& limits) {
  if (kind == BodyKind::kNone) return {0};
  return kind == BodyKind::kJson ? limits.json_body : limits.file_body;
}

void TakeFields(const RequestHead& head, Request& request) {
  request.accept = head.One("accept");
  request.range = head.One("range");
  request.idempotency_key = head.One("idempotency-key");
  request.last_event_id = head.One("last-event-id");
}

}  // namespace

std::variant<Admitted, Reply> Admit(const RequestHead& head, const Door& door, const std::vector<ApiKey>& keys,
                                    std::span<const Route> routes, const ServerLimits& limits) {
  if (std::optional<Reply> reply = CheckDoor(head, door)) return std::move(*reply);
  if (head.target.size() > limits.target.value) {
    return Problem(414, Error(Code::kInvalidArgument, "the target is longer than " + FormatBytes(limits.target)));
  }
  Admitted admitted;
  Request& request = admitted.request;
  const std::size_t question = head.target.find('?');
  request.target = head.target.substr(0, question);
  if (question != std::string::npos) request.query = head.target.substr(question + 1);
  const auto found = FindRoute(routes, head.method, request.target, request);

  // A stranger does not learn which paths there are.
  const auto* const route = std::get_if<const Route*>(&found);
  std::optional<service::Caller> caller = FindCaller(head, door, keys);
  const bool is_open = route != nullptr && (*route)->access.is_open();
  if (!caller && !is_open) return Unauthorized();
  if (const auto* others = std::get_if<OtherMethods>(&found)) return NotAllowed(others->allow);
  if (route == nullptr) return Problem(404, Error(Code::kNotFound, "there is nothing at this path"));
  request.caller = caller.value_or(service::Caller{.name = "anyone", .permissions = {}, .face = service::Face::kRest});
  if (!service::Includes(request.caller.permissions, (*route)->access.permission())) {
    return Problem(Error(Code::kPermissionDenied, "the key " + Quoted(request.caller.name) + " may not do this"));
  }
  admitted.route = *route;
  admitted.body_limit = LimitOf((*route)->body, limits);
  if (std::optional<Reply> reply = CheckBody(head, (*route)->body, admitted.body_limit)) return std::move(*reply);
  if (head.method == "HEAD") admitted.want = Admitted::Want::kHeadOnly;
  TakeFields(head, request);
  return admitted;
}

}  // namespace caisson::rest
