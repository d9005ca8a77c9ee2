#include "caisson/tool/catalogue.h"

#include <boost/json.hpp>

#include "caisson/api/tools.h"

namespace caisson::tool {
namespace {

const boost::json::array& Documents() {
  static const boost::json::value documents = [] {
    const std::string_view text = api::ToolsJson();
    return boost::json::parse({text.data(), text.size()});
  }();
  return documents.get_array();
}

std::string TextOf(const boost::json::object& tool, const char* key) {
  const boost::json::string& text = tool.at(key).get_string();
  return {text.data(), text.size()};
}

boost::json::object ForMcp(const boost::json::object& tool) {
  return {{"name", tool.at("name")},
          {"title", tool.at("title")},
          {"description", tool.at("description")},
          {"inputSchema", tool.at("inputSchema")},
          {"annotations", tool.at("annotations")}};
}

// The others take a schema as part of theirs.
boost::json::object BareSchema(const boost::json::object& tool) {
  boost::json::object schema = tool.at("inputSchema").get_object();
  schema.erase("$schema");
  return schema;
}

boost::json::object ForOpenAi(const boost::json::object& tool) {
  return {{"type", "function"},
          {"function",
           {{"name", tool.at("name")}, {"description", tool.at("description")}, {"parameters", BareSchema(tool)}}}};
}

boost::json::object ForAnthropic(const boost::json::object& tool) {
  return {{"name", tool.at("name")}, {"description", tool.at("description")}, {"input_schema", BareSchema(tool)}};
}

boost::json::object ForGemini(const boost::json::object& tool) {
  return {
      {"name", tool.at("name")}, {"description", tool.at("description")}, {"parametersJsonSchema", BareSchema(tool)}};
}

boost::json::array Each(boost::json::object (*make)(const boost::json::object& tool)) {
  boost::json::array tools;
  for (const boost::json::value& tool : Documents()) tools.push_back(make(tool.get_object()));
  return tools;
}

boost::json::value ValueOf(Format format) {
  switch (format) {
    case Format::kMcp:
      return boost::json::object{{"tools", Each(ForMcp)}};
    case Format::kOpenAi:
      return Each(ForOpenAi);
    case Format::kAnthropic:
      return Each(ForAnthropic);
    case Format::kGemini:
      return boost::json::array{boost::json::object{{"functionDeclarations", Each(ForGemini)}}};
    case Format::kWhole:
      break;
  }
  return Documents();
}

}  // namespace

std::vector<Entry> Entries() {
  std::vector<Entry> entries;
  for (const boost::json::value& document : Documents()) {
    const boost::json::object& tool = document.get_object();
    entries.push_back({TextOf(tool, "name"), TextOf(tool, "title"), TextOf(tool, "effect")});
  }
  return entries;
}

std::string Describe(Format format) { return boost::json::serialize(ValueOf(format)); }

}  // namespace caisson::tool
