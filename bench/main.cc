// caisson-bench: the promises with numbers, measured.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "bench/catalogue.h"
#include "bench/options.h"
#include "bench/program.h"
#include "bench/promise.h"
#include "bench/report.h"
#include "bench/rounds.h"
#include "bench/work_series.h"
#include "caisson/os/fd.h"

namespace caisson::bench {
namespace {

constexpr int kMet = 0;
constexpr int kMissed = 1;
constexpr int kUsageError = 2;
constexpr int kFailed = 3;
constexpr int kSkipped = 77;
constexpr std::chrono::milliseconds kQuietSecond{1000};
constexpr std::chrono::milliseconds kNoPause{0};

void Say(int fd, const std::string& text) { static_cast<void>(os::WriteAll(fd, text)); }

bool Selected(const Options& options, const SeriesName& name) {
  if (name.group == Group::kQuiet && options.quiet_rounds == 0) return false;
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), name.Text()) != options.only.end();
}

Series MakeSeries(Catalogue& catalogue, const SeriesName& name) {
  Series series{.name = name.Text(), .group = name.group, .note = NoteOf(name.variant), .skipped = {}, .samples = {}};
  if (const auto variant = catalogue.Get(name.variant)) {
    series.variant = *variant;
  } else {
    series.skipped = Describe(variant.error());
  }
  return series;
}

int RoundsOf(const Options& options, Group group) {
  constexpr int kLongShare = 15;
  if (group == Group::kQuiet) return options.quiet_rounds;
  return group == Group::kLong ? std::max(1, options.rounds / kLongShare) : options.rounds;
}

std::vector<Promise> Promises() {
  std::vector<Promise> all = AllPromises();
  const std::vector<Promise>& work = WorkPromises();
  all.insert(all.end(), work.begin(), work.end());
  return all;
}

std::vector<Series> Measure(const Options& options, Catalogue& catalogue) {
  std::vector<Series> all;
  for (const auto& name : AllSeries()) {
    if (Selected(options, name)) all.push_back(MakeSeries(catalogue, name));
  }
  for (const Group group : {Group::kTight, Group::kReport, Group::kLong, Group::kQuiet}) {
    std::vector<Series*> members;
    for (auto& one : all) {
      if (one.variant != nullptr && one.group == group) members.push_back(&one);
    }
    RunInterleaved(members, RoundsOf(options, group), group == Group::kQuiet ? kQuietSecond : kNoPause);
  }
  return all;
}

Status WriteJson(const std::string& path, const std::string& json) {
  if (path == "-") return os::WriteAll(STDOUT_FILENO, json);
  const os::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return Fail(Error::FromErrno(errno, "cannot write " + path));
  return os::WriteAll(fd.get(), json);
}

// bubblewrap may be absent; that anything else could not be measured is a failure.
bool Sound(const Series& series) {
  return series.samples.failures() == 0 && (series.skipped.empty() || series.name.starts_with(kBubblewrap));
}

bool AllKept(const std::vector<Series>& series, const std::vector<Verdict>& verdicts) {
  return std::all_of(series.begin(), series.end(), Sound) &&
         std::none_of(verdicts.begin(), verdicts.end(),
                      [](const Verdict& one) { return one.standing == Standing::kMissed; });
}

int Run(const std::vector<std::string_view>& arguments) {
  const auto options = ParseOptions(arguments);
  if (!options) {
    Say(STDERR_FILENO, "caisson-bench: " + Describe(options.error()) + "\n\n" + std::string(kUsage));
    return kUsageError;
  }
  if (options->help) {
    Say(STDOUT_FILENO, std::string(kUsage));
    return kMet;
  }
  if (::geteuid() != 0) {
    Say(STDERR_FILENO, "caisson-bench: skipped: it makes namespaces, mounts and cgroups, which needs root\n");
    return kSkipped;
  }
  const auto directory = OwnDirectory();
  if (!directory) {
    Say(STDERR_FILENO, "caisson-bench: " + Describe(directory.error()) + "\n");
    return kFailed;
  }
  Catalogue catalogue(*directory);
  const auto series = Measure(*options, catalogue);
  const auto verdicts = Judge(series, Promises());
  Say(options->json_file == "-" ? STDERR_FILENO : STDOUT_FILENO, FormatTable(series, verdicts));
  if (!options->json_file.empty()) {
    if (const auto written = WriteJson(options->json_file, FormatJson(series, verdicts)); !written) {
      Say(STDERR_FILENO, "caisson-bench: " + Describe(written.error()) + "\n");
      return kFailed;
    }
  }
  return AllKept(series, verdicts) ? kMet : kMissed;
}

}  // namespace
}  // namespace caisson::bench

int main(int argc, char** argv) { return caisson::bench::Run({argv + 1, argv + argc}); }
