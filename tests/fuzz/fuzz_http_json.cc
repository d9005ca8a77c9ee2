// What a stranger sends to the REST server: heads, bodies, JSON, paths, parameters, ranges.
// Input: one byte that chooses the reader, then its text. Of a whole request: head and body as they are sent.

#include <string>
#include <string_view>

#include "caisson/base/utf8.h"
#include "caisson/rest/admission.h"
#include "caisson/rest/byte_range.h"
#include "caisson/rest/event_text.h"
#include "caisson/rest/percent.h"
#include "caisson/rest/problem.h"
#include "caisson/rest/query.h"
#include "caisson/rest/request_head.h"
#include "caisson/rest/requests_json.h"
#include "caisson/rest/routes.h"
#include "fuzz/fuzz_input.h"

namespace {

using caisson::fuzz::Require;
namespace rest = caisson::rest;

void RequireProblem(const caisson::Error& error) {
  Require(error.code() == caisson::Code::kInvalidArgument, "what a stranger sends is at most an invalid argument");
  const rest::Reply reply = rest::Problem(error);
  Require(caisson::IsUtf8(reply.body), "an answer is UTF-8");
  const std::string head = rest::HeadText(reply, reply.body.size(), rest::AfterReply::kClose);
  Require(head.find("\r\n\r\n") == head.size() - 4, "a head has one end");
}

void ReadPath(std::string_view text) {
  const auto path = rest::FilePathOf(text);
  if (!path) return RequireProblem(path.error());
  Require(path->starts_with('/') && path->find('\0') == std::string::npos, "a path is absolute");
  Require(path->find("//") == std::string::npos && (*path + "/").find("/../") == std::string::npos, "nothing is above");
  Require(caisson::IsUtf8(*path), "a path is UTF-8");
}

void ReadQuery(std::string_view text) {
  rest::QueryReader query(text);
  (void)query.Text("state");
  (void)query.Each("label");
  (void)query.Switch("follow", true);
  (void)query.Mentioned("list");
  (void)query.Choice("stream", {"stdout", "stderr"});
  const std::uint64_t count = query.Count("limit", 1, 1000, 100);
  const caisson::Status status = query.Finish();
  if (!status) return RequireProblem(status.error());
  Require(count >= 1 && count <= 1000, "a number is in its range");
  if (const auto list = rest::ReadList(text)) Require(list->limit >= 1 && list->limit <= 1000, "a page has its limit");
}

void ReadRange(std::string_view text) {
  const auto range = rest::ParseByteRange(text);
  if (!range) return;
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1} << 62U}) {
    const auto part = rest::PartOf(*range, size);
    if (part)
      Require(part->length > 0 && part->offset < size && part->length <= size - part->offset, "a part is inside");
  }
}

void ReadBodies(std::string_view text) {
  const auto create = rest::ReadCreate(text, std::nullopt);
  if (!create) {
    RequireProblem(create.error());
  } else {
    Require(create->limits.pids > 0 && create->limits.memory.value > 0 && create->limits.cpus.value > 0,
            "no limit is 0");
    Require(create->command_timeout.count() > 0, "a timeout is not 0");
  }
  const auto start = rest::ReadStart(text);
  if (!start) {
    RequireProblem(start.error());
  } else {
    Require(!start->command.argv.empty(), "a command has a program");
    for (const std::string& argument : start->command.argv) {
      Require(argument.find('\0') == std::string::npos && caisson::IsUtf8(argument), "an argument is text");
    }
  }
  if (const auto policy = rest::ReadPolicyChange("", text); !policy) RequireProblem(policy.error());
  const auto signal = rest::ReadSignal(text);
  if (!signal) RequireProblem(signal.error());
}

void ReadRequest(std::string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return;
  rest::RequestParser parser;
  const auto head = parser.ReadHead(text.substr(0, end + 4));
  if (!head) return RequireProblem(head.error());
  Require(!head->is_chunked || !head->content_length, "a body has one end");
  const rest::Door door{.kind = rest::Door::Kind::kTcp, .peer = {}, .port = 80};
  const auto verdict = rest::Admit(*head, door, {}, rest::Routes(), {});
  if (const auto* admitted = std::get_if<rest::Admitted>(&verdict)) {
    Require(admitted->route->access.is_open(), "without a key only health is open");
  }
  std::string_view body = text.substr(end + 4);
  while (!parser.is_done() && !body.empty()) {
    const auto taken = parser.TakeBody(body);
    if (!taken) return RequireProblem(taken.error());
    if (*taken == 0) break;
    Require(*taken <= body.size(), "no more is taken than there is");
    body.remove_prefix(*taken);
    Require(parser.body_size() <= text.size(), "a body is not larger than what was sent");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  caisson::fuzz::Input input(data, size);
  const auto reader = input.Take<std::uint8_t>();
  const std::string_view text = input.TakeRest();
  switch (reader % 6) {
    case 0:
      ReadPath(text);
      break;
    case 1:
      ReadQuery(text);
      break;
    case 2:
      ReadRange(text);
      break;
    case 3:
      ReadBodies(text);
      break;
    case 4:
      ReadRequest(text);
      break;
    default:
      (void)rest::ParseOutputId(text);
      break;
  }
  return 0;
}
