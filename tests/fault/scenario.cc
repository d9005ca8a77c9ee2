#include "fault/scenario.h"

#include <filesystem>

#include "support/image_folder.h"

namespace caisson::fault {

std::optional<Scenario> Scenario::Make(const std::string& name) {
  Scenario scenario;
  const std::string& folder = scenario.folder_.path();
  if (name == "plain") return scenario;
  if (name == "workspace" || name == "workspace-rw") {
    support::WriteFile(folder + "/file", "of the host\n");
    scenario.options_ = {"--workspace", folder + (name == "workspace" ? "" : ":rw")};
    return scenario;
  }
  if (name == "image") {
    support::AddProgram(folder, "/bin/sh");
    std::filesystem::create_directories(folder + "/etc");
    support::WriteFile(folder + "/etc/passwd", "root:x:0:0::/:/bin/sh\n");
    support::WriteFile(folder + "/etc/group", "root:x:0:\n");
    scenario.options_ = {"--image", folder};
    return scenario;
  }
  if (name == "first") {
    scenario.makes_image_ = true;
    return scenario;
  }
  if (name == "keep") {
    scenario.keeps_ = true;
    scenario.options_ = {"--keep"};
    return scenario;
  }
  return std::nullopt;
}

}  // namespace caisson::fault
