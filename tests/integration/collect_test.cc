#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <random>
#include <sstream>

#include "caisson/base/deadline.h"
#include "caisson/os/cgroup_mounts.h"
#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// `caisson df`, `prune` and `purge`, and that with them nothing stays on a host whatever was killed.

namespace caisson::support {
namespace {

using std::chrono::seconds;

class Collect : public IntegrationTest {};

Ended RunCaisson(const Texts& words) {
  ProgramSpec spec{.argv = {CaissonPath()}};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  return RunProgram(spec, seconds(60));
}

boost::json::object ParseObject(const std::string& text) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(text, error);
  if (!error && value.is_object()) return value.get_object();
  ADD_FAILURE() << "not an object: " << text.substr(0, 1000);
  return {};
}

// One program after the other in a mount namespace with data folder, runtime folder and cgroup roots of its own: what
// happens there happens to nothing else on the host. "$0" is caisson, "$1" an empty folder.
class OwnHost {
 public:
  // Why this host cannot give one; empty when it can.
  static std::string Lack() {
    if (RunProgram({.argv = {"mountpoint", "-q", "/"}}).status != 0) return "the root is no mount, as in a chroot";
    if (Hierarchies().empty()) return "no cgroup2 is mounted";
    return {};
  }

  OwnHost() : name_(UniqueMarker()) {
    for (const std::string& point : Hierarchies()) mkdir((point + "/" + name_).c_str(), 0755);
    for (const char* folder : {"lib", "run", "empty"}) std::filesystem::create_directory(folder_ / folder);
  }
  OwnHost(const OwnHost&) = delete;
  OwnHost& operator=(const OwnHost&) = delete;
  ~OwnHost() {
    for (const std::string& point : Hierarchies()) EXPECT_EQ(rmdir((point + "/" + name_).c_str()), 0) << point;
  }

  Ended Run(const std::string& script) const {
    std::string prepared = "mount --bind \"$1/lib\" /var/lib && mount --bind \"$1/run\" /run || exit 99\n";
    for (const std::string& point : Hierarchies()) {
      prepared += "mount --bind " + point + "/" + name_ + " " + point + " || exit 99\n";
    }
    return RunProgram({.argv = {"unshare", "--mount", "bash", "-c", prepared + script, CaissonPath(), folder_.path()}},
                      seconds(120));
  }
  std::string operator/(std::string_view name) const { return folder_ / name; }

 private:
  // Where the hierarchies that Caisson uses are mounted; empty without cgroup2.
  static std::vector<std::string> Hierarchies() {
    const os::CgroupMounts mounts = os::ParseCgroupMounts(ReadFile("/proc/self/mountinfo"));
    if (!mounts.unified) return {};
    std::vector<std::string> points = {*mounts.unified};
    for (const auto& point : {mounts.memory, mounts.cpu, mounts.pids}) {
      if (point) points.push_back(*point);
    }
    return points;
  }

  std::string name_;
  TempFolder folder_;
};

// Waits until every process of Caisson's that this one's programs left has ended.
bool AwaitProcessesEnd(const HostState& before) {
  const Deadline deadline = Deadline::In(seconds(30));
  const auto any = [&] {
    const HostState now = ReadHostState();
    return std::any_of(now.begin(), now.end(),
                       [&](const std::string& item) { return item.starts_with("process ") && !before.contains(item); });
  };
  while (any()) {
    if (deadline.Passed()) return false;
    poll(nullptr, 0, 10);
  }
  return true;
}

TEST_F(Collect, NothingStaysWhateverIsKilledWhenever) {
  std::minstd_rand random(5);
  for (int i = 0; i < 60; ++i) {
    HostProgram program(RunSpec(i % 2 == 0 ? Texts{} : Texts{"--storage", "directory"},
                                {"sh", "-c", "echo x > file; echo ready; sleep 1000 & sleep 1000"}));
    if (i % 3 == 0) {
      ASSERT_TRUE(program.AwaitOutput("ready"));
    } else {
      const timespec delay{0, static_cast<long>(random() % 40000) * 1000};
      nanosleep(&delay, nullptr);
    }
    // The engine, the launcher, its keeper, the guest or the command.
    std::vector<pid_t> processes = ProcessesBelow(program.pid());
    processes.push_back(program.pid());
    kill(processes[random() % processes.size()], SIGKILL);
    program.Signal(SIGKILL);
    program.Wait();
  }
  // A launcher that outlives its killed keeper leaves what the keeper had, and is in use until it ends.
  ASSERT_TRUE(AwaitProcessesEnd(before()));
  EXPECT_EQ(RunScript({}, "true").status, 0);
  const Ended pruned = RunCaisson({"prune"});
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  EXPECT_EQ(AwaitNothingNew(before()), HostState());
}

TEST_F(Collect, PruneTakesNothingThatLives) {
  std::vector<HostProgram> programs;
  for (int i = 0; i < 8; ++i) {
    const Texts options = i % 2 == 0 ? Texts{} : Texts{"--storage", "directory"};
    ProgramSpec spec =
        RunSpec(options, {"sh", "-c", "echo kept > file; echo ready; read go; cat file; ls /etc/passwd"});
    spec.input = Input::kPipe;
    programs.emplace_back(spec);
  }
  for (HostProgram& program : programs) ASSERT_TRUE(program.AwaitOutput("ready")) << program.err();
  for (int i = 0; i < 5; ++i) {
    const Ended pruned = RunCaisson({"prune", "--json"});
    EXPECT_EQ(pruned.status, 0) << pruned.err;
    EXPECT_EQ(ParseObject(pruned.out)["failed"], boost::json::array()) << pruned.out;
  }
  for (HostProgram& program : programs) {
    program.Write("go\n");
    const Ended ended = program.Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, "ready\nkept\n/etc/passwd\n");
  }
}

TEST_F(Collect, DfMovesAsFilesAreWritten) {
  const OwnHost host;
  if (const std::string lack = OwnHost::Lack(); !lack.empty()) GTEST_SKIP() << lack;
  const Ended ended = host.Run(R"(
"$0" df --json
mkfifo /run/go
"$0" run --storage directory -- sh -c 'head -c 30000000 /dev/zero > f; sync f; echo ready; read go' < /run/go > /run/out &
exec 7> /run/go
until grep -q ready /run/out; do sleep 0.01; done
"$0" df --json
echo go >&7
exec 7>&-
wait
until "$0" purge > /dev/null; [ $? != 3 ]; do sleep 0.01; done
"$0" df --json
"$0" purge --yes > /dev/null
)");
  ASSERT_EQ(ended.status, 0) << ended.out << ended.err;
  std::istringstream lines(ended.out);
  std::vector<boost::json::object> reports;
  for (std::string line; std::getline(lines, line);) reports.push_back(ParseObject(line));
  ASSERT_EQ(reports.size(), 3U) << ended.out;
  const auto layers = [&](std::size_t at, const char* key) {
    return reports[at]["layers"].at("in_use").at(key).to_number<std::int64_t>();
  };
  EXPECT_EQ(layers(0, "count"), 0);
  EXPECT_EQ(layers(1, "count"), 1);
  EXPECT_GE(layers(1, "allocated_bytes"), 30'000'000);
  EXPECT_LT(layers(1, "allocated_bytes"), 32'000'000);
  EXPECT_EQ(layers(2, "allocated_bytes"), 0);
  EXPECT_EQ(reports[1]["cgroups"].at("in_use").at("count").to_number<int>(), 1);
  EXPECT_EQ(reports[1]["uid_blocks_in_use"].to_number<int>(), 1);
  EXPECT_EQ(reports[1]["images"].at("in_use").at("count").to_number<int>(), 1);
  EXPECT_EQ(reports[2]["images"].at("kept").at("count").to_number<int>(), 1);
  EXPECT_EQ(reports[2]["cgroups"].at("left_over").at("count").to_number<int>(), 0);
}

TEST_F(Collect, PurgeRefusesWhileASandboxLivesThenRemovesAllThenRunWorks) {
  const OwnHost host;
  if (const std::string lack = OwnHost::Lack(); !lack.empty()) GTEST_SKIP() << lack;
  const Ended ended = host.Run(R"(
"$0" purge; echo "nothing there: $?"
mkfifo /run/go
"$0" run --storage directory -- sh -c 'echo ready; read go; echo lives' < /run/go > /run/out &
exec 7> /run/go
until grep -q ready /run/out; do sleep 0.01; done
"$0" purge; echo "shown: $?"
"$0" purge --yes --json 2>&1; echo "refused: $?"
echo go >&7
exec 7>&-
wait; echo "run: $?"; cat /run/out
until "$0" purge > /run/shown; [ $? != 3 ]; do sleep 0.01; done
"$0" purge > /run/shown; echo "asked: $?"; ls -d /var/lib/caisson
"$0" purge --yes > /dev/null; echo "purged: $?"
ls /var/lib; ls -d /run/caisson /sys/fs/cgroup/caisson /sys/fs/cgroup/*/caisson 2> /dev/null
"$0" purge --yes; echo "again: $?"
"$0" run -- echo works
until "$0" purge --yes > /dev/null; [ $? != 3 ]; do sleep 0.01; done
)");
  ASSERT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("nothing to remove\nnothing there: 0\nshown: 3\n"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("\"sandboxes\":\"s1\""), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("refused: 3\nrun: 0\nready\nlives\nasked: 1\n/var/lib/caisson\npurged: 0\n"
                           "nothing to remove\nagain: 0\nworks\n"),
            std::string::npos)
      << ended.out << ended.err;
}

// Two installations on one host share its cgroups and nothing else.
TEST_F(Collect, PurgeLeavesAnotherInstallationsSandboxesAlone) {
  const OwnHost host;
  if (const std::string lack = OwnHost::Lack(); !lack.empty()) GTEST_SKIP() << lack;
  const Ended ended = host.Run(R"(
mkfifo /run/go
"$0" run -- sh -c 'echo ready; cut -d" " -f1 /proc/self/uid_map > /dev/null; read go; echo lives' < /run/go > /run/out &
exec 7> /run/go
until grep -q ready /run/out; do sleep 0.01; done
unshare --mount bash -c '
  mkdir "$1/empty/lib" "$1/empty/run"
  mount --bind "$1/empty/lib" /var/lib && mount --bind "$1/empty/run" /run || exit 99
  "$0" run -- echo second
  until "$0" purge --yes > /run/report; [ $? != 3 ]; do sleep 0.01; done
  cat /run/report
  ls /var/lib' "$0" "$1" || exit
"$0" prune
echo go >&7
exec 7>&-
wait; echo "run: $?"; cat /run/out
until "$0" purge --yes > /dev/null; [ $? != 3 ]; do sleep 0.01; done
)");
  ASSERT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_TRUE(ended.out.starts_with("second\n")) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("left: the cgroup s1 is in use"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("run: 0\nready\nlives\n"), std::string::npos) << ended.out;
}

TEST_F(Collect, RefusesWhatItDoesNotKnow) {
  for (const Texts& words : {Texts{"df", "x"}, Texts{"prune", "--yes"}, Texts{"purge", "--force"},
                             Texts{"purge", "--yes=no"}, Texts{"df", "--", "true"}}) {
    const Ended ended = RunCaisson(words);
    EXPECT_EQ(ended.status, 2) << words[1];
    EXPECT_NE(ended.err.find("\n  fix: "), std::string::npos) << ended.err;
  }
}

TEST_F(Collect, NeedsRoot) {
  for (const char* command : {"df", "prune", "purge"}) {
    const Ended ended = RunProgram(
        {.argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", CaissonPath(), command, "--json"}});
    if (ended.status == 126 || ended.status == 127) GTEST_SKIP() << "others may not execute the program";
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_EQ(ParseObject(ended.err)["error"].at("code"), "unsupported");
  }
}

}  // namespace
}  // namespace caisson::support
