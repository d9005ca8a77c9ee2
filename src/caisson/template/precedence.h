#pragma once

#include <map>
#include <string>
#include <vector>

namespace caisson::templates {

// A value as an option takes it, and where it came from: "--memory", "CAISSON_MEMORY", "caisson.toml:14", "profile
// team", "default".
struct Setting {
  std::string text;
  std::string source;
};

// What one place says, by the name of the option without its dashes.
using Layer = std::map<std::string, Setting>;

// Of each name, the setting of the first layer that has one. The order is: options, environment, template, profile,
// user configuration, defaults.
Layer Merge(const std::vector<Layer>& strongest_first);

}  // namespace caisson::templates
