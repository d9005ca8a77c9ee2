// Fails the system calls of a sandbox's making one by one. See docs/fault-injection.md.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "fault/fault_calls.h"
#include "fault/fault_judge.h"
#include "support/caisson_run.h"
#include "support/temp_folder.h"

namespace caisson::fault {
namespace {

constexpr int kExitSkipped = 77;

struct Options {
  std::string storage = "tmpfs";
  std::string scenario = "plain";
  std::string role;    // what its name begins with
  std::string call;    // empty: all
  int error = 0;       // 0: those of the table
  int ordinal = -1;    // -1: all
  bool every = false;  // every occurrence with every error; else one occurrence of each call with the likeliest
  bool only_interruptions = false;
  std::string results;  // where a line for each case goes
  bool verbose = false;
  unsigned shard = 0;
  unsigned shards = 1;
};

int Usage() {
  std::fputs(
      "usage: fault_test [--storage tmpfs|btrfs|directory] [--scenario plain|workspace|workspace-rw|image|keep|first]\n"
      "                  [--all] [--role ROLE] [--call NAME] [--ordinal N] [--error NAME] [--interrupt]\n"
      "                  [--results FILE] [--shard I/N] [--verbose]\n",
      stderr);
  return 2;
}

std::optional<Options> Parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--all") {
      options.every = true;
      continue;
    }
    if (name == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (name == "--interrupt") {
      options.only_interruptions = true;
      continue;
    }
    if (++i >= count) return std::nullopt;
    const std::string value = arguments[i];
    if (name == "--storage")
      options.storage = value;
    else if (name == "--scenario")
      options.scenario = value;
    else if (name == "--role")
      options.role = value;
    else if (name == "--call")
      options.call = value;
    else if (name == "--ordinal")
      options.ordinal = std::atoi(value.c_str());
    else if (name == "--error")
      options.error = ErrorOf(value);
    else if (name == "--results")
      options.results = value;
    else if (name == "--shard" && std::sscanf(value.c_str(), "%u/%u", &options.shard, &options.shards) == 2)
      continue;
    else
      return std::nullopt;
  }
  return options;
}

bool IsWanted(const Options& options, const CallSite& site) {
  return site.role.starts_with(options.role) && (options.call.empty() || CallName(site.number) == options.call) &&
         (options.ordinal < 0 || site.ordinal == options.ordinal) && WhyNotFailed(site.role, site.number).empty();
}

std::vector<Injection> WithErrors(const Options& options, const CallSite& site) {
  std::vector<Injection> cases;
  if (options.error != 0) return {{site, options.error}};
  if (!options.only_interruptions) {
    const std::vector<int> errors = ErrorsOf(site.number);
    const std::size_t wanted = options.every ? errors.size() : std::min<std::size_t>(errors.size(), 1);
    for (std::size_t i = 0; i < wanted; ++i) cases.push_back({site, errors[i]});
  }
  if (CanBeInterrupted(site.number)) cases.push_back({site, EINTR});
  return cases;
}

// What processes tell each other: one that is not told waits, so every occurrence is tried.
bool IsMessage(const CallSite& site) { return site.number == SYS_sendmsg; }

// One occurrence of each call of each role: the same one each time, and another one on another storage.
std::vector<CallSite> Sample(const std::vector<CallSite>& sites, const std::string& salt) {
  std::map<std::pair<std::string, int>, std::vector<CallSite>> groups;
  std::vector<CallSite> sample;
  for (const CallSite& site : sites) {
    if (IsMessage(site))
      sample.push_back(site);
    else
      groups[{site.role, site.number}].push_back(site);
  }
  for (const auto& [key, group] : groups) {
    unsigned hash = 17;
    for (const char c : salt + key.first + CallName(key.second)) hash = hash * 31 + static_cast<unsigned char>(c);
    sample.push_back(group[hash % group.size()]);
  }
  return sample;
}

std::vector<Injection> Plan(const Options& options, const std::vector<CallSite>& calls) {
  std::vector<CallSite> sites;
  for (const CallSite& site : calls) {
    if (IsWanted(options, site)) sites.push_back(site);
  }
  const bool chosen = options.every || options.ordinal >= 0;
  if (!chosen) sites = Sample(sites, options.storage + options.scenario);
  std::vector<Injection> cases;
  for (const CallSite& site : sites) {
    for (const Injection& injection : WithErrors(options, site)) cases.push_back(injection);
  }
  std::vector<Injection> mine;
  for (std::size_t i = options.shard; i < cases.size(); i += options.shards) mine.push_back(cases[i]);
  return mine;
}

const char* NameOf(const Judged& judged) {
  switch (judged.verdict) {
    case Verdict::kSucceeded:
      return judged.collected ? "succeeded, collected" : "succeeded";
    case Verdict::kRefused:
      return judged.collected ? "refused, collected" : "refused";
    case Verdict::kNotReached:
      return "not reached";
    case Verdict::kWrong:
      break;
  }
  return "WRONG";
}

int RunCases(const Options& options, Judge& judge) {
  std::map<std::string, int> counts;
  const std::vector<Injection> cases = Plan(options, judge.calls());
  for (const Injection& injection : cases) {
    Judged judged = judge.Try(injection);
    // An interrupted call is made again, or nothing depended on it.
    if (injection.error == EINTR && judged.verdict == Verdict::kRefused) {
      judged.verdict = Verdict::kWrong;
      judged.text = "not made again after EINTR: " + judged.text;
    }
    ++counts[NameOf(judged)];
    const std::string line = options.storage + "\t" + options.scenario + "\t" + injection.site.role + "\t" +
                             CallName(injection.site.number) + "\t" + std::to_string(injection.site.ordinal) + "\t" +
                             ErrorName(injection.error) + "\t" + NameOf(judged) + "\t" + judged.text;
    // Opened anew for each line: a descriptor that stays would be one more than before.
    if (!options.results.empty()) std::ofstream(options.results, std::ios::app) << line << '\n';
    if (options.verbose || judged.verdict == Verdict::kWrong) std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
  std::printf("%s, %s: %zu calls, %zu cases", options.storage.c_str(), options.scenario.c_str(), judge.calls().size(),
              cases.size());
  for (const auto& [name, count] : counts) std::printf(", %d %s", count, name.c_str());
  std::printf("\n");
  return cases.empty() || counts["WRONG"] > 0 ? 1 : 0;
}

int Main(int count, char** arguments) {
  const std::optional<Options> options = Parse(count, arguments);
  if (!options) return Usage();
  if (geteuid() != 0 || support::CaissonPath().empty()) {
    std::puts("skipped: needs root and CAISSON_BIN");
    return kExitSkipped;
  }
  const auto storage = std::find_if(support::kStorageDrivers.begin(), support::kStorageDrivers.end(),
                                    [&](const auto& driver) { return driver.name == options->storage; });
  if (storage == support::kStorageDrivers.end()) return Usage();
  const support::TempFolder data;
  if (!EnterArena(data.path())) {
    std::printf("skipped: no mount namespace of its own: %s\n", std::strerror(errno));
    return kExitSkipped;
  }
  support::AdoptOrphans();
  auto scenario = Scenario::Make(options->scenario);
  if (!scenario) return Usage();
  Judge judge(*storage, *std::move(scenario));
  if (!judge.why_not().empty()) {
    std::printf("skipped: %s\n", judge.why_not().c_str());
    return kExitSkipped;
  }
  if (!judge.fault().empty()) {
    std::printf("%s\n", judge.fault().c_str());
    return 1;
  }
  return RunCases(*options, judge);
}

}  // namespace
}  // namespace caisson::fault

int main(int count, char** arguments) { return caisson::fault::Main(count, arguments); }
