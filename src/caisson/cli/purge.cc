#include "caisson/cli/commands.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/host_report.h"
#include "caisson/sandbox/housekeeping.h"

namespace caisson::cli {

int PurgeCommand(const CommandLine& line) {
  const bool json = line.Has(Option::kJson);
  const bool removes = line.Has(Option::kYes);
  const auto collected = sandbox::PurgeHost({}, removes ? storage::PurgeMode::kRemove : storage::PurgeMode::kShow);
  if (!collected) {
    PrintError(collected.error(), json ? Format::kJson : Format::kText);
    return kFailed;
  }
  if (!json) {
    for (const storage::NotRemoved& failed : collected->failed) PrintError(failed.error, Format::kText);
  }
  const Tense tense = removes ? Tense::kDone : Tense::kWouldBe;
  int status = kSuccess;
  if (!removes && !collected->removed.empty()) status = kNegativeAnswer;
  if (removes && !collected->failed.empty()) status = kFailed;
  std::string report = json ? RemovalJson(*collected, tense) : RemovalText(*collected, tense);
  if (!json && status == kNegativeAnswer) report += "nothing was removed; to remove it: caisson purge --yes\n";
  return PrintOrFail(report, status, kFailed);
}

}  // namespace caisson::cli
