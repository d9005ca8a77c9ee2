#include <string>
#include <vector>

#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/option_values.h"
#include "caisson/cli/text_table.h"
#include "caisson/tool/catalogue.h"

namespace caisson::cli {
namespace {

std::string Table() {
  std::vector<std::vector<std::string>> rows;
  for (const tool::Entry& entry : tool::Entries()) rows.push_back({entry.name, entry.effect, entry.title});
  return TextTable({"TOOL", "EFFECT", "WHAT"}, rows);
}

}  // namespace

int ToolsCommand(const CommandLine& line) {
  constexpr Choice<tool::Format> kFormats[] = {{"mcp", tool::Format::kMcp},
                                               {"openai", tool::Format::kOpenAi},
                                               {"anthropic", tool::Format::kAnthropic},
                                               {"gemini", tool::Format::kGemini}};
  const bool json = line.Has(Option::kJson);
  const auto format = ReadChoice<tool::Format>(line, Option::kToolFormat, kFormats, tool::Format::kWhole);
  if (!format) {
    PrintError(format.error(), json ? Format::kJson : Format::kText);
    return kUsageError;
  }
  const bool is_table = !json && !line.Has(Option::kToolFormat);
  return PrintOrFail(is_table ? Table() : tool::Describe(*format) + "\n", kSuccess, kFailed);
}

}  // namespace caisson::cli
