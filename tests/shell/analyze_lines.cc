// Analyses the texts of standard input, one JSON string a line, and prints what is found as one JSON object a line:
// how a test in another language asks.

#include <boost/json.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "caisson/shell/shell.h"

namespace {

namespace json = boost::json;
namespace shell = caisson::shell;

json::value ToJson(const shell::Word& word) {
  json::object out{{"source", word.source}, {"prefix", word.known_prefix}, {"value", nullptr}};
  if (word.value) out["value"] = *word.value;
  return out;
}

const char* ToText(shell::Direction direction) {
  switch (direction) {
    case shell::Direction::kRead:
      return "read";
    case shell::Direction::kWrite:
      return "write";
    case shell::Direction::kReadWrite:
      return "read_write";
  }
  return "";
}

json::value ToJson(const shell::SimpleCommand& command) {
  json::array words;
  for (const shell::Word& word : command.words) words.push_back(ToJson(word));
  json::array assignments;
  for (const shell::Assignment& assignment : command.assignments) {
    assignments.push_back({{"name", assignment.name}, {"value", ToJson(assignment.value)}});
  }
  json::array redirections;
  for (const shell::Redirection& redirection : command.redirections) {
    redirections.push_back({{"direction", ToText(redirection.direction)}, {"target", ToJson(redirection.target)}});
  }
  return {{"words", std::move(words)},
          {"assignments", std::move(assignments)},
          {"redirections", std::move(redirections)},
          {"calls_function", command.calls_function},
          {"offset", command.offset}};
}

json::value ToJson(const shell::Analysis& analysis) {
  json::array commands;
  for (const shell::SimpleCommand& command : analysis.commands) commands.push_back(ToJson(command));
  json::object out{{"commands", std::move(commands)}, {"depth", analysis.depth}, {"unknown", nullptr}};
  if (analysis.unknown) out["unknown"] = {{"what", analysis.unknown->what}, {"offset", analysis.unknown->offset}};
  return out;
}

}  // namespace

int main() {
  try {
    for (std::string line; std::getline(std::cin, line);) {
      const json::value text = json::parse(line);
      const json::string& content = text.as_string();
      std::cout << json::serialize(ToJson(shell::Analyze({content.data(), content.size()}))) << "\n";
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shell_analyze_lines: %s\n", error.what());
    return 1;
  }
}
