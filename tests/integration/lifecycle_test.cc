#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <thread>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// From the first run on a host to the last: what Caisson is while it runs, and that nothing of it stays.

namespace caisson::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Lifecycle : public IntegrationTest {};

TEST_F(Lifecycle, NothingStaysAfterThreeHundredRunsOfWhichAThirdIsKilled) {
  std::minstd_rand random(20);
  const std::string marker = UniqueMarker();
  for (int i = 0; i < 300; ++i) {
    const Texts options = i % 2 == 0 ? Texts{} : Texts{"--storage", "directory"};
    if (i % 3 != 0) {
      const Ended ended = RunCommand(options, {"sh", "-c", "echo x > file; sleep 1000 & :", marker});
      EXPECT_EQ(ended.status, 0) << "run " << i << ": " << ended.err;
      continue;
    }
    HostProgram program(RunSpec(options, {"sh", "-c", "echo x > file; sleep 1000 & sleep 1000", marker}));
    // Anywhere between its first instruction and the command's.
    const timespec delay{0, static_cast<long>(random() % 40000) * 1000};
    nanosleep(&delay, nullptr);
    program.Signal(SIGKILL);
    EXPECT_EQ(program.Wait().signal, SIGKILL);
  }
  EXPECT_TRUE(AwaitProcessesNaming(marker, 0));
  EXPECT_EQ(AwaitNothingNew(before()), HostState());
}

// When the privileged part is killed too, nobody is left to clean up: the kernel ends every process, and the next run
// on the host removes the rest.
TEST_F(Lifecycle, ARunKilledWithItsWholeGroupIsCleanedUpByTheNext) {
  const std::string marker = UniqueMarker();
  ProgramSpec spec =
      RunSpec({"--storage", "directory"}, {"bash", "-c", "echo ready; exec -a \"$0\" sleep 1000", marker});
  spec.argv.insert(spec.argv.begin(), "setsid");  // executes in place: its process id is the group's
  HostProgram group(spec);
  ASSERT_TRUE(group.AwaitOutput("ready"));
  ASSERT_EQ(getpgid(group.pid()), group.pid());
  kill(-group.pid(), SIGKILL);
  EXPECT_EQ(group.Wait(seconds(20)).signal, SIGKILL);
  EXPECT_TRUE(AwaitProcessesNaming(marker, 0));
  EXPECT_EQ(RunScript({}, "true").status, 0);
}

// The process id of the first child of `parent` with that name.
std::string ChildNamed(pid_t parent, const std::string& name) {
  const Ended ended = RunProgram({.argv = {"pgrep", "--parent", std::to_string(parent), name}});
  return ended.out.substr(0, ended.out.find('\n'));
}

TEST_F(Lifecycle, AKilledLauncherEndsTheRun) {
  const std::string marker = UniqueMarker();
  HostProgram program(
      RunSpec({"--storage", "directory"}, {"bash", "-c", "echo ready; exec -a \"$0\" sleep 1000", marker}));
  ASSERT_TRUE(program.AwaitOutput("ready"));
  const std::string launcher = ChildNamed(program.pid(), "caisson-launch");
  ASSERT_NE(launcher, "");
  kill(std::stoi(launcher), SIGKILL);
  const Ended ended = program.Wait(seconds(20));
  EXPECT_EQ(ended.status, 125) << ended.err;
  EXPECT_NE(ended.err.find("caisson: "), std::string::npos);
  EXPECT_TRUE(AwaitProcessesNaming(marker, 0));
  EXPECT_EQ(RunScript({}, "true").status, 0);
}

// A layer that nobody answers for is none that a command should go on to write to.
TEST_F(Lifecycle, AKilledStorageProcessEndsTheRun) {
  for (const Texts& options : {Texts{}, Texts{"--storage", "directory"}}) {
    const std::string marker = UniqueMarker();
    HostProgram program(RunSpec(options, {"bash", "-c", "echo ready; exec -a \"$0\" sleep 1000", marker}));
    ASSERT_TRUE(program.AwaitOutput("ready"));
    const std::string launcher = ChildNamed(program.pid(), "caisson-launch");
    ASSERT_NE(launcher, "");
    const std::string storage = ChildNamed(std::stoi(launcher), "caisson-storage");
    ASSERT_NE(storage, "");
    kill(std::stoi(storage), SIGKILL);
    const Ended ended = program.Wait(seconds(20));
    EXPECT_EQ(ended.status, 125) << ended.err;
    EXPECT_NE(ended.err.find("the sandbox ended while the command ran"), std::string::npos) << ended.err;
    EXPECT_TRUE(AwaitProcessesNaming(marker, 0));
    EXPECT_EQ(RunScript({}, "true").status, 0);
  }
}

TEST_F(Lifecycle, TheEngineHoldsNoPrivilege) {
  HostProgram program(RunSpec({}, {"sh", "-c", "echo ready; sleep 1000"}));
  ASSERT_TRUE(program.AwaitOutput("ready"));
  const std::string tasks = "/proc/" + std::to_string(program.pid()) + "/task";
  int threads = 0;
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    const std::string status = ReadFile(task.path() / "status");
    const std::string ids = "1879048193\t1879048193\t1879048193\t1879048193";
    EXPECT_EQ(StatusField(status, "Uid"), ids);
    EXPECT_EQ(StatusField(status, "Gid"), ids);
    EXPECT_EQ(StatusField(status, "Groups"), "");
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
      EXPECT_EQ(StatusField(status, set), "0000000000000000") << set;
    }
    EXPECT_EQ(StatusField(status, "NoNewPrivs"), "1");
    ++threads;
  }
  EXPECT_GE(threads, 1);
}

TEST_F(Lifecycle, TheStorageProcessHoldsNoMoreThanItNeeds) {
  HostProgram program(RunSpec({}, {"sh", "-c", "echo ready; sleep 1000"}));
  ASSERT_TRUE(program.AwaitOutput("ready"));
  const std::string launcher = ChildNamed(program.pid(), "caisson-launch");
  ASSERT_NE(launcher, "");
  const std::string storage = ChildNamed(std::stoi(launcher), "caisson-storage");
  ASSERT_NE(storage, "");
  const std::string status = ReadFile("/proc/" + storage + "/status");
  // CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, SYS_ADMIN.
  for (const char* set : {"CapPrm", "CapEff", "CapBnd"}) EXPECT_EQ(StatusField(status, set), "000000000020000f") << set;
  for (const char* set : {"CapInh", "CapAmb"}) EXPECT_EQ(StatusField(status, set), "0000000000000000") << set;
  EXPECT_EQ(StatusField(status, "NoNewPrivs"), "1");
}

TEST_F(Lifecycle, SixteenAtOnceSucceed) {
  std::vector<HostProgram> programs;
  for (int i = 0; i < 16; ++i) {
    programs.emplace_back(RunSpec({}, {"sh", "-c", "echo ready; read go; echo number " + std::to_string(i)}));
  }
  for (int i = 0; i < 16; ++i) {
    const Ended ended = programs[static_cast<std::size_t>(i)].Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, "ready\nnumber " + std::to_string(i) + "\n");
  }
}

TEST_F(Lifecycle, SandboxesAtOnceHaveUserIdsOfTheirOwn) {
  std::vector<HostProgram> programs;
  std::set<std::string> first_ids;
  for (int i = 0; i < 16; ++i) {
    ProgramSpec spec = RunSpec({}, {"sh", "-c", "cat /proc/self/uid_map; echo ready; read go"});
    spec.input = Input::kPipe;
    programs.emplace_back(spec);
  }
  for (HostProgram& program : programs) ASSERT_TRUE(program.AwaitOutput("ready")) << program.err();
  for (HostProgram& program : programs) {
    first_ids.insert(program.out());
    program.CloseInput();
    EXPECT_EQ(program.Wait().status, 1);  // read finds the end of its input
  }
  EXPECT_EQ(first_ids.size(), 16U);
}

TEST_F(Lifecycle, SixteenFirstRunsOnAFreshHostSucceed) {
  // In a mount namespace of its own the data folder has no image yet; locks and cgroups stay the host's.
  if (RunProgram({.argv = {"mountpoint", "-q", "/"}}).status != 0) {
    GTEST_SKIP() << "the root is no mount, as in a chroot: no mount can be hidden from the host";
  }
  const TempFolder images;
  const std::string script = R"(
mount --bind "$1" /var/lib/caisson/images || exit 99
chmod 0700 /var/lib/caisson/images
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "$0" run -- true & all="$all $!"; done
for one in $all; do wait $one || failed=1; done
ls -A "$1"
exit ${failed:-0}
)";
  RunScript({}, "true");  // makes the data folder where there is none
  const Ended ended =
      RunProgram({.argv = {"unshare", "--mount", "sh", "-c", script, CaissonPath(), images.path()}}, seconds(120));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("host-")) << ended.out;
  EXPECT_EQ(ended.out.find('\n'), ended.out.size() - 1) << "one image and no remains: " << ended.out;
}

TEST_F(Lifecycle, AnOverlongLifeEndsAtItsTimeout) {
  // The smallest timeout there is: it may pass before the command has begun.
  for (int i = 0; i < 10; ++i) EXPECT_EQ(RunCommand({"--timeout", "1ms"}, {"sleep", "1000"}).status, 124);
}

}  // namespace
}  // namespace caisson::support
