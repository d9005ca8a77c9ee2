#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caisson/base/error.h"
#include "caisson/cli/template_values.h"
#include "caisson/template/template.h"

namespace caisson::cli {

// What `caisson template` prints.

struct TemplateCheck {
  std::string file;
  std::vector<Error> mistakes;
  std::vector<templates::Lacking> lacking;
};

std::string CheckText(const TemplateCheck& check);
// {"file","valid","mistakes":[{"message","line","column"}],"not_yet":[{"what","source","refused"}]}
std::string CheckJson(const TemplateCheck& check);

// A value that counts, and from where. Of a variable only the name is told: its value may be a secret.
struct ShownValue {
  std::string name;
  std::string value;
  std::string source;
};

// Of the options that a template may set, those that have a value or a default, and the policy; then the variables.
std::vector<ShownValue> ShownValues(const EffectiveValues& values);

std::string ShowText(const std::vector<ShownValue>& shown, const std::vector<templates::Lacking>& lacking);
// {"values":{NAME:{"value","source"}},"env":{NAME:{"source"}},"not_yet":[...]}
std::string ShowJson(const std::vector<ShownValue>& shown, const std::vector<templates::Lacking>& lacking);

}  // namespace caisson::cli
