#include "caisson/cli/template_report.h"

#include <boost/json.hpp>

#include "caisson/base/utf8.h"
#include "caisson/cli/text_table.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {
namespace {

constexpr std::string_view kEnvPrefix = "env ";

std::string LackingText(const std::vector<templates::Lacking>& lacking) {
  std::string text;
  for (const templates::Lacking& one : lacking) {
    const char* end = one.use == templates::Lacking::Use::kRefused ? "; no sandbox is made of it\n" : "\n";
    text += "  " + one.source + ": " + Printable(one.what) + end;
  }
  return text.empty() ? text : "\nnot there yet:\n" + text;
}

boost::json::array LackingJson(const std::vector<templates::Lacking>& lacking) {
  boost::json::array list;
  for (const templates::Lacking& one : lacking) {
    list.push_back(
        {{"what", one.what}, {"source", one.source}, {"refused", one.use == templates::Lacking::Use::kRefused}});
  }
  return list;
}

boost::json::value NumberOf(const Error& error, const std::string& key) {
  for (const auto& [name, value] : error.details()) {
    if (name == key) return std::stoll(value);
  }
  return nullptr;
}

}  // namespace

std::string CheckText(const TemplateCheck& check) {
  if (check.mistakes.empty()) return Printable(check.file) + " is right.\n" + LackingText(check.lacking);
  std::string text;
  for (const Error& mistake : check.mistakes) {
    text += Printable(mistake.message()) + "\n";
    if (!mistake.cause().empty()) text += "  " + Printable(mistake.cause()) + "\n";
  }
  return text;
}

std::string CheckJson(const TemplateCheck& check) {
  boost::json::array mistakes;
  for (const Error& mistake : check.mistakes) {
    mistakes.push_back(
        {{"message", mistake.message()}, {"line", NumberOf(mistake, "line")}, {"column", NumberOf(mistake, "column")}});
  }
  boost::json::object report;
  report["file"] = check.file;
  report["valid"] = check.mistakes.empty();
  report["mistakes"] = std::move(mistakes);
  report["not_yet"] = LackingJson(check.lacking);
  return wire::JsonLine(report);
}

std::vector<ShownValue> ShownValues(const EffectiveValues& values) {
  std::vector<ShownValue> shown;
  for (const OptionInfo* info : OptionsOf(values.line.command)) {
    if (info->metavar == nullptr || info->occurs == Occurs::kRepeatedly) continue;
    if (const OptionValue* given = values.line.Find(info->id)) {
      shown.push_back({info->name, given->text, given->source});
    } else if (!info->default_text.empty()) {
      shown.push_back({info->name, info->default_text, "default"});
    }
  }
  if (values.policy) shown.push_back({"policy", values.policy->text, values.policy->source});
  const auto variables = values.line.values.find(Option::kEnv);
  if (variables == values.line.values.end()) return shown;
  std::map<std::string, std::string> sources;  // the last counts
  for (const OptionValue& variable : variables->second) {
    sources[variable.text.substr(0, variable.text.find('='))] = variable.source;
  }
  for (const auto& [name, source] : sources) shown.push_back({std::string(kEnvPrefix) + name, "", source});
  return shown;
}

std::string ShowText(const std::vector<ShownValue>& shown, const std::vector<templates::Lacking>& lacking) {
  std::vector<std::vector<std::string>> rows;
  for (const ShownValue& value : shown) rows.push_back({value.name, value.value, value.source});
  return TextTable({"NAME", "VALUE", "FROM"}, rows) + LackingText(lacking);
}

std::string ShowJson(const std::vector<ShownValue>& shown, const std::vector<templates::Lacking>& lacking) {
  boost::json::object named;
  boost::json::object variables;
  for (const ShownValue& value : shown) {
    if (value.name.starts_with(kEnvPrefix)) {
      variables[value.name.substr(kEnvPrefix.size())] = {{"source", value.source}};
    } else {
      named[value.name] = {{"value", value.value}, {"source", value.source}};
    }
  }
  boost::json::object report;
  report["values"] = std::move(named);
  report["env"] = std::move(variables);
  report["not_yet"] = LackingJson(lacking);
  return wire::JsonLine(report);
}

}  // namespace caisson::cli
