#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <cstdlib>
#include <random>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/storage_drivers.h"
#include "support/temp_folder.h"

// A host that makes, uses and ends sandboxes on every storage while processes of Caisson's are killed at random moments
// looks afterwards as if there had been none. CAISSON_CHURN: how many cycles, 5,000 before a release.

namespace caisson::support {
namespace {

class Churn : public IntegrationTest {};

int Cycles() {
  const char* text = std::getenv("CAISSON_CHURN");
  return text == nullptr ? 150 : std::atoi(text);
}

// The process ids of `root` and all below it whose name begins so.
std::vector<pid_t> ProcessesNamed(pid_t root, const std::string& name) {
  std::vector<pid_t> found;
  std::vector<pid_t> parents = {root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const std::string folder = "/proc/" + std::to_string(parent);
    if (ReadFile(folder + "/comm").starts_with(name)) found.push_back(parent);
    std::istringstream children(ReadFile(folder + "/task/" + std::to_string(parent) + "/children"));
    for (pid_t child = 0; children >> child;) parents.push_back(child);
  }
  return found;
}

TEST_F(Churn, LeavesNothingWhoeverIsKilled) {
  constexpr const char* kVictims[] = {"caisson", "caisson-launch", "caisson-keeper", "caisson-storage",
                                      "caisson-guest"};
  const TempFolder workspace;
  const std::string marker = UniqueMarker();
  std::minstd_rand random(4);
  int killed = 0;
  for (int i = 0; i < Cycles(); ++i) {
    const StorageDriver& driver = kStorageDrivers[random() % kStorageDrivers.size()];
    if (!WhyMissing(driver.storage).empty()) continue;
    const Texts options = {"--json", "--storage", driver.name, "--workspace", workspace.path()};
    const bool kills = i % 3 == 0;
    const std::string script = "for n in 1 2 3 4 5; do mkdir d$n; echo x > d$n/f; done; mkfifo p; sleep 1000 & " +
                               std::string(kills ? "sleep 1000" : ":");
    HostProgram program(RunSpec(options, {"sh", "-c", script, marker}));
    if (!kills) {
      EXPECT_EQ(program.Wait().status, 0) << "cycle " << i << " on " << driver.name << ": " << program.err();
      continue;
    }
    const timespec delay{0, static_cast<long>(random() % 60000) * 1000};
    nanosleep(&delay, nullptr);
    const char* victim = kVictims[random() % std::size(kVictims)];
    for (const pid_t pid : ProcessesNamed(program.pid(), victim)) {
      if (kill(pid, SIGKILL) == 0) ++killed;
    }
    program.Signal(SIGKILL);  // one whose victim did not matter waits for its command
    (void)program.Wait();
  }
  EXPECT_GT(killed, 0);
  EXPECT_TRUE(AwaitProcessesNaming(marker, 0));
  const Ended pruned = RunProgram({.argv = {CaissonPath(), "prune"}}, std::chrono::seconds(120));
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  const Ended again = RunProgram({.argv = {CaissonPath(), "prune"}});
  EXPECT_EQ(again.out, "nothing to remove\n");
}

}  // namespace
}  // namespace caisson::support
