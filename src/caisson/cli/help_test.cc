#include "caisson/cli/help.h"

#include <gtest/gtest.h>

#include <sstream>

namespace caisson::cli {
namespace {

TEST(HelpText, NamesEveryOptionItsVariableAndAnExample) {
  for (const CommandInfo& command : Commands()) {
    const std::string text = HelpText(command.id);
    EXPECT_NE(text.find("usage: caisson " + std::string(command.name)), std::string::npos);
    EXPECT_NE(text.find("example:"), std::string::npos);
    for (const OptionInfo* option : OptionsOf(command.id)) {
      EXPECT_NE(text.find("--" + std::string(option->name)), std::string::npos) << option->name;
      if (option->environment != nullptr) {
        EXPECT_NE(text.find(option->environment), std::string::npos);
      }
    }
  }
  EXPECT_NE(HelpText(CommandId::kRun).find("Default: 2GiB"), std::string::npos);
}

TEST(HelpText, KeepsToTheWidthOfALine) {
  for (const CommandInfo& command : Commands()) {
    std::istringstream lines(HelpText(command.id));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;
  }
}

TEST(ProgramHelpText, NamesEveryCommand) {
  for (const CommandInfo& command : Commands()) {
    EXPECT_NE(ProgramHelpText().find("  " + std::string(command.name)), std::string::npos);
  }
}

}  // namespace
}  // namespace caisson::cli
