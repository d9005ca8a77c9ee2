#include "caisson/document/document.h"
#include "caisson/json/object_reader.h"
#include "caisson/rest/query.h"
#include "caisson/rest/requests_json.h"

namespace caisson::rest {
namespace {

constexpr std::size_t kLongestName = 255;

}  // namespace

service::PolicyRequest ReadPolicyFields(json::ObjectReader& reader) {
  service::PolicyRequest request;
  request.preset = reader.Text("preset", kLongestName);
  const auto text = reader.Text("text", document::kMostBytes);
  const auto format = reader.Choice("format", {"toml", "json"});
  const auto name = reader.Text("name", kLongestName);
  if (request.preset && (text || format || name)) {
    reader.Refuse("preset", "must stand alone: a preset has a text, a format and a name of its own");
  }
  if (!request.preset && !text) reader.Refuse("text", "must be given, or else \"preset\"");
  if (text) request.text = *text;
  if (format && *format == 1) request.format = document::Format::kJson;
  request.name = name.value_or(request.format == document::Format::kJson ? "policy.json" : "policy.toml");
  return request;
}

Result<service::PolicyChange> ReadPolicyChange(std::string_view query, std::string_view body) {
  service::PolicyChange change;
  QueryReader reader(query);
  if (reader.Choice("running", {"finish", "stop"}) == 1) change.running = service::RunningCommands::kStop;
  CAISSON_CHECK_OK(reader.Finish());
  CAISSON_CHECK_OK(
      json::ReadObject(body, [&](json::ObjectReader& object) { change.policy = ReadPolicyFields(object); }));
  return change;
}

}  // namespace caisson::rest
