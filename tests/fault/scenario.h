#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace caisson::fault {

// A run with options that bring other system calls than a plain one. Owns the folders that it names.
class Scenario {
 public:
  // Makes what the scenario needs. Nothing when there is none of that name.
  static std::optional<Scenario> Make(const std::string& name);

  // Options of `caisson run`.
  const std::vector<std::string>& options() const { return options_; }
  // The image `host` is made anew in each run.
  bool makes_image() const { return makes_image_; }
  // A sandbox stays after the run.
  bool keeps() const { return keeps_; }

 private:
  std::vector<std::string> options_;
  bool makes_image_ = false;
  bool keeps_ = false;
  support::TempFolder folder_;
};

}  // namespace caisson::fault
