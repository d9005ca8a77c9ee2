#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caisson/base/error.h"
#include "caisson/document/document.h"
#include "caisson/policy/rule.h"
#include "caisson/policy/zone.h"

namespace caisson::policy {

// A command that a rule's file says it is, or is not, about.
struct Example {
  std::string command;
  bool matches = true;
  std::string place;
};

// Reads the rules of one file, one after the other. Mistakes are kept in the reader that is given, but for zones that
// cannot be read here: `unsupported`.
class RuleReader {
 public:
  // Borrowed.
  explicit RuleReader(const ZoneSource& zones) : zones_(zones) {}

  Rule Read(document::TableReader& table, std::size_t number);
  // Of the rule that was read last.
  std::vector<Example> TakeExamples() { return std::move(examples_); }
  const std::optional<Error>& unsupported() const { return unsupported_; }

 private:
  void ReadActions(document::TableReader& table, Rule& rule);
  void ReadSubjects(document::TableReader& table, Rule& rule);
  void ReadConditions(document::TableReader& table, Rule& rule);
  void ReadWindow(document::TableReader& table, Rule& rule);
  void ReadExamples(document::TableReader& table, const Rule& rule);
  std::shared_ptr<const Zone> FindZone(document::TableReader& window, const std::string& name);

  const ZoneSource& zones_;
  std::map<std::string, std::shared_ptr<const Zone>> known_zones_;
  std::vector<Example> examples_;
  std::optional<Error> unsupported_;
};

}  // namespace caisson::policy
