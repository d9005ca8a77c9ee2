#include "caisson/rest/query.h"

#include <algorithm>

#include "caisson/base/nearest_name.h"
#include "caisson/base/units.h"
#include "caisson/base/utf8.h"
#include "caisson/rest/percent.h"

namespace caisson::rest {
namespace {

constexpr std::size_t kMostParameters = 64;

Result<std::string> DecodePart(std::string_view part) {
  std::string spaced(part);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return PercentDecode(spaced);
}

Error About(std::string_view name, std::string_view must) {
  return Error(Code::kInvalidArgument, "the parameter " + Quoted(name) + " " + std::string(must))
      .Detail("parameter", std::string(name));
}

}  // namespace

QueryReader::QueryReader(std::string_view query) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    if (parameters_.size() == kMostParameters) {
      Keep(Error(Code::kInvalidArgument, "there are more than 64 parameters"));
      return;
    }
    const std::size_t equals = part.find('=');
    auto name = DecodePart(part.substr(0, equals));
    auto value = DecodePart(equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1));
    if (!name || !value) {
      Keep(!name ? std::move(name).error() : std::move(value).error());
      return;
    }
    parameters_.push_back({std::move(*name), std::move(*value)});
  }
}

void QueryReader::Keep(Error error) {
  if (!mistake_) mistake_ = std::move(error);
}

void QueryReader::Refuse(std::string_view name, std::string_view must) { Keep(About(name, must)); }

const QueryReader::Parameter* QueryReader::Find(std::string_view name) {
  known_.emplace_back(name);
  const Parameter* found = nullptr;
  for (const Parameter& parameter : parameters_) {
    if (parameter.name != name) continue;
    if (found != nullptr) Refuse(name, "is given twice");
    found = &parameter;
  }
  return found;
}

std::optional<std::string> QueryReader::Text(std::string_view name) {
  const Parameter* parameter = Find(name);
  if (parameter == nullptr) return std::nullopt;
  return parameter->value;
}

std::vector<std::string> QueryReader::Each(std::string_view name) {
  known_.emplace_back(name);
  std::vector<std::string> values;
  for (const Parameter& parameter : parameters_) {
    if (parameter.name == name) values.push_back(parameter.value);
  }
  return values;
}

std::uint64_t QueryReader::Count(std::string_view name, std::uint64_t low, std::uint64_t high,
                                 std::uint64_t otherwise) {
  const std::optional<std::string> text = Text(name);
  if (!text) return otherwise;
  const auto count = ParseCount(*text, name, low, high);
  if (count) return *count;
  Refuse(name, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return otherwise;
}

bool QueryReader::Switch(std::string_view name, bool otherwise) {
  const std::optional<std::size_t> chosen = Choice(name, {"false", "true"});
  return chosen ? *chosen == 1 : otherwise;
}

bool QueryReader::Mentioned(std::string_view name) {
  const Parameter* parameter = Find(name);
  if (parameter == nullptr) return false;
  if (!parameter->value.empty()) Refuse(name, "takes no value");
  return true;
}

std::optional<std::size_t> QueryReader::Choice(std::string_view name, const std::vector<std::string_view>& choices) {
  const std::optional<std::string> text = Text(name);
  if (!text) return std::nullopt;
  const auto found = std::find(choices.begin(), choices.end(), *text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  std::string must = "must be one of";
  for (const std::string_view choice : choices) must += " " + std::string(choice);
  Refuse(name, must);
  return std::nullopt;
}

Status QueryReader::Finish() {
  for (const Parameter& parameter : parameters_) {
    if (std::find(known_.begin(), known_.end(), parameter.name) != known_.end()) continue;
    Error error = About(parameter.name, "is not known here");
    const std::optional<std::string> nearest = NearestName(parameter.name, known_);
    Keep(nearest ? Error(std::move(error).Remedy("did you mean " + Quoted(*nearest) + "?")) : std::move(error));
  }
  if (mistake_) return Fail(*mistake_);
  return {};
}

}  // namespace caisson::rest
