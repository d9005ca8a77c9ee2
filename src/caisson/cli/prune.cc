#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/host_report.h"
#include "caisson/sandbox/housekeeping.h"

namespace caisson::cli {

int PruneCommand(const CommandLine& line) {
  const bool json = line.Has(Option::kJson);
  const auto collected = sandbox::PruneHost({});
  if (!collected) {
    PrintError(collected.error(), json ? Format::kJson : Format::kText);
    return kFailed;
  }
  if (!json) {
    for (const storage::NotRemoved& failed : collected->failed) PrintError(failed.error, Format::kText);
  }
  const std::string report = json ? RemovalJson(*collected, Tense::kDone) : RemovalText(*collected, Tense::kDone);
  return PrintOrFail(report, collected->failed.empty() ? kSuccess : kFailed, kFailed);
}

}  // namespace caisson::cli
