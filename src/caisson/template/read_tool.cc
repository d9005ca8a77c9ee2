#include "caisson/template/read_tool.h"

#include <algorithm>
#include <set>

#include "caisson/base/utf8.h"
#include "caisson/template/read.h"

namespace caisson::templates {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestDescription = 4096;
constexpr std::size_t kLongestPattern = 256;
constexpr std::size_t kMostParameters = 32;
constexpr std::size_t kMostArguments = 1000;

std::string LimitedText(document::TableReader& reader, std::string_view key, std::size_t most) {
  const std::string text = reader.Text(key).value_or("");
  if (text.size() > most) reader.Refuse(key, "must have at most " + std::to_string(most) + " bytes");
  return text;
}

std::vector<ToolParameter> ReadParameters(document::TableReader& tool) {
  std::vector<ToolParameter> parameters;
  auto table = tool.SubTable("parameters");
  if (!table) return parameters;
  const std::vector<std::string> names = table->RemainingKeys();
  if (names.size() > kMostParameters) {
    tool.Refuse("parameters", "must have at most 32 entries");
    return parameters;
  }
  for (const std::string& name : names) {
    auto reader = table->SubTable(name);
    if (!reader) continue;
    if (!IsToolName(name)) table->Refuse(name, "must be of a-z, 0-9 and _, begin with a letter, and have at most 64");
    const std::vector<std::string_view> types = {"string", "integer", "number", "boolean"};
    const auto type = reader->Choice("type", types);
    if (!type && !reader->Has("type")) reader->Refuse("type", "must be given");
    ToolParameter parameter{.name = name,
                            .type = std::string(types[type.value_or(0)]),
                            .pattern = LimitedText(*reader, "pattern", kLongestPattern),
                            .description = LimitedText(*reader, "description", kLongestDescription)};
    if (!parameter.pattern.empty() && parameter.type != "string") {
      reader->Refuse("pattern", "must not be given for a type other than \"string\"");
    }
    (void)reader->Finish();
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

// The names between braces in an argument. Braces that hold no name of a tool are text.
std::vector<std::string> PlaceholdersOf(std::string_view argument) {
  std::vector<std::string> names;
  for (std::size_t open = argument.find('{'); open != std::string_view::npos; open = argument.find('{', open + 1)) {
    const std::size_t close = argument.find('}', open);
    if (close == std::string_view::npos) break;
    const std::string_view name = argument.substr(open + 1, close - open - 1);
    if (IsToolName(name)) names.emplace_back(name);
  }
  return names;
}

void CheckArguments(document::TableReader& reader, const Tool& tool) {
  if (tool.argv.empty() || tool.argv.front().empty()) {
    reader.Refuse("argv", "must name a program");
    return;
  }
  if (tool.argv.size() > kMostArguments) {
    reader.Refuse("argv", "must have at most 1000 entries");
    return;
  }
  if (!PlaceholdersOf(tool.argv.front()).empty()) {
    reader.Refuse("argv", "must begin with a program that no parameter chooses");
  }
  std::set<std::string> used;
  for (const std::string& argument : tool.argv) {
    for (std::string& name : PlaceholdersOf(argument)) used.insert(std::move(name));
  }
  for (const ToolParameter& parameter : tool.parameters) {
    if (used.erase(parameter.name) == 0) {
      reader.Refuse("parameters", "must not have " + Quoted(parameter.name) + ", which argv does not use");
    }
  }
  for (const std::string& name : used) {
    reader.Refuse("argv", "must not use " + Quoted("{" + name + "}") + ", which is no parameter");
  }
}

Tool ReadTool(document::TableReader& reader) {
  const std::vector<std::string_view> effects = {"read", "change", "destroy", "execute"};
  constexpr ToolEffect kEffects[] = {ToolEffect::kRead, ToolEffect::kChange, ToolEffect::kDestroy,
                                     ToolEffect::kExecute};
  Tool tool;
  tool.source = reader.place();
  tool.name = reader.Text("name").value_or("");
  if (!IsToolName(tool.name)) {
    reader.Refuse("name", "must be of a-z, 0-9 and _, begin with a letter, and have at most 64");
  }
  tool.description = LimitedText(reader, "description", kLongestDescription);
  if (tool.description.empty()) reader.Refuse("description", "must say what the tool does");
  tool.argv = reader.Texts("argv");
  const auto effect = reader.Choice("effect", effects);
  if (effect) tool.effect = kEffects[*effect];
  if (!reader.Has("effect")) reader.Refuse("effect", "must be given: read, change, destroy or execute");
  tool.parameters = ReadParameters(reader);
  CheckArguments(reader, tool);
  (void)reader.Finish();
  return tool;
}

}  // namespace

bool IsToolName(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

std::vector<Tool> ReadTools(document::TableReader& whole) {
  std::vector<Tool> tools;
  std::set<std::string> names;
  std::vector<document::TableReader> readers = whole.Tables("tool");
  if (readers.size() > kMostTools) {
    whole.Refuse("tool", "must not be given more than 100 times");
    return tools;
  }
  for (document::TableReader& reader : readers) {
    tools.push_back(ReadTool(reader));
    if (!names.insert(tools.back().name).second) reader.Refuse("name", "must be the name of one tool only");
  }
  return tools;
}

}  // namespace caisson::templates
