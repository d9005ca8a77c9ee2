#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// What a command sees of its own confinement, for agent and for root inside.

namespace caisson::support {
namespace {

class Posture : public IntegrationTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static std::string Inside(const std::string& script) {
    const Ended ended = RunScript({"--user", GetParam()}, script);
    EXPECT_EQ(ended.status, 0) << script << ": " << ended.err;
    return ended.out;
  }
};

TEST_P(Posture, EveryThreadIsWithoutPrivilege) {
  const Ended ended = RunCommand({"--user", GetParam()}, {"python3", "-c", R"(
import glob, threading, time
for i in range(4): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
names = ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp', 'Groups')
for path in glob.glob('/proc/self/task/*/status'):
    fields = dict(line.split(':', 1) for line in open(path))
    print(' '.join(fields[name].strip() for name in names).strip())
)"});
  const std::string none = "0000000000000000";
  std::string line = none;
  for (int i = 0; i < 4; ++i) line += " " + none;
  line += " 1 2\n";
  EXPECT_EQ(ended.out, line + line + line + line + line) << ended.err;
}

TEST_P(Posture, OnlyTheThreeStandardDescriptorsAreOpen) {
  ProgramSpec spec =
      RunSpec({"--user", GetParam()}, {"python3", "-c", "import os\nprint(sorted(os.listdir('/proc/self/fd')))"});
  // The caller's own must not come along either.
  const std::string command = "exec 7< /etc/passwd 9< /etc/shadow; exec \"$@\"";
  Texts wrapped = {"bash", "-c", command, "bash"};
  wrapped.insert(wrapped.end(), spec.argv.begin(), spec.argv.end());
  spec.argv = wrapped;
  EXPECT_EQ(RunProgram(spec).out, "['0', '1', '2', '3']\n");  // 3 is the listing's own
}

TEST_P(Posture, UserIdsAreMappedToABlockOfCaissons) {
  for (const char* map : {"uid_map", "gid_map"}) {
    std::istringstream fields(Inside(std::string("cat /proc/self/") + map));
    std::uint64_t inside = 1;
    std::uint64_t outside = 0;
    std::uint64_t count = 0;
    std::string more;
    fields >> inside >> outside >> count;
    EXPECT_EQ(inside, 0U);
    EXPECT_GE(outside, 0x70000000U + 131072U);
    EXPECT_EQ((outside - 0x70000000U) % 131072U, 0U);
    EXPECT_EQ(count, 65536U);
    EXPECT_FALSE(fields >> more);
  }
}

TEST_P(Posture, ResourceLimitsAreSet) {
  // The hard limit on files is the host's where that is lower.
  const Ended ended = RunCommand({"--user", GetParam()}, {"python3", "-c", R"(
import resource as r
print(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_MSGQUEUE), r.getrlimit(r.RLIMIT_NOFILE)[0],
      r.getrlimit(r.RLIMIT_NOFILE)[1] <= 65536)
)"});
  EXPECT_EQ(ended.out, "(1, 1) (0, 0) 1024 True\n") << ended.err;
}

TEST_P(Posture, EveryMountIsNosuidAndPrivate) {
  const TempFolder work;
  const Ended ended = RunScript({"--user", GetParam(), "--workspace", work.path()}, "cat /proc/self/mountinfo");
  std::istringstream lines(ended.out);
  int mounts = 0;
  std::set<std::string> points;
  for (std::string line; std::getline(lines, line); ++mounts) {
    std::istringstream fields(line);
    std::string id, parent, device, root, point, options, next;
    fields >> id >> parent >> device >> root >> point >> options >> next;
    points.insert(point);
    EXPECT_TRUE(options.find("nosuid") != std::string::npos) << line;
    EXPECT_EQ(next, "-") << "a mount that is shared with another namespace: " << line;
    if (point != "/dev" && !point.starts_with("/dev/pts")) {
      EXPECT_TRUE(options.find("nodev") != std::string::npos || point.starts_with("/proc/")) << line;
    }
    EXPECT_EQ(line.find("/var/tmp/"), std::string::npos) << "a path of the host: " << line;
  }
  EXPECT_GT(mounts, 5);
  for (const char* wanted : {"/", "/proc", "/dev", "/dev/pts", "/dev/shm", "/home/agent/workspace"}) {
    EXPECT_TRUE(points.contains(wanted)) << wanted;
  }
}

TEST_P(Posture, CgroupsShowNothingOfTheHost) {
  std::istringstream lines(Inside("cat /proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.find("caisson"), std::string::npos) << line;
    EXPECT_EQ(line.find(".."), std::string::npos) << line;
  }
  EXPECT_EQ(Inside("ls -A /sys"), "");
}

// The file system that the sandbox was built from would be a second one at the same place.
TEST_P(Posture, ThereIsOneRoot) { EXPECT_EQ(Inside("cut -d' ' -f5 /proc/self/mountinfo | grep -cx /"), "1\n"); }

TEST_P(Posture, ProcIsReadOnlyWhereItReachesTheHost) {
  const Ended ended = RunCommand({"--user", GetParam()}, {"python3", "-c", R"(
import os
for name in ('bus', 'fs', 'irq', 'sys', 'sysrq-trigger'):
    path = '/proc/' + name
    if os.path.exists(path) and not os.statvfs(path).f_flag & os.ST_RDONLY: print(path)
)"});
  EXPECT_EQ(ended.out, "") << "can be written to, but for the permissions of its files" << ended.err;
  EXPECT_EQ(ended.status, 0) << ended.err;
}

// Whatever a system call filter lets through.
TEST_P(Posture, NoNamespaceOfUsersCanBeMadeBelow) {
  EXPECT_EQ(Inside("cat /proc/sys/user/max_user_namespaces"), "0\n");
}

TEST_P(Posture, TheGuestIsWithoutPrivilegeToo) {
  const Ended ended = RunCommand({"--user", GetParam()}, {"python3", "-c", R"(
names = ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp', 'Seccomp_filters')
for process, more in ('1', ('Uid',)), ('self', ()):
    fields = dict(line.split(':', 1) for line in open('/proc/' + process + '/status'))
    print(*(fields[name].strip().replace('\t', ' ') for name in names + more))
)"});
  // SETUID, SETGID and KILL, in the sandbox's user namespace. The filters of a command are the guest's and its own.
  const std::string none = "0000000000000000 ";
  const std::string three = "00000000000000e0 ";
  EXPECT_EQ(ended.out, none + three + three + none + none + "1 2 1 60000 60000 60000 60000\n" + none + none + none +
                           none + none + "1 2 2\n")
      << ended.err;
}

// The files that tell of a process which is not dumpable belong to the host's root. Source: proc(5).
TEST_P(Posture, TheGuestIsNotDumpable) {
  EXPECT_EQ(Inside("stat -c %u /proc/1/environ /proc/self/environ"),
            "65534\n" + std::string(GetParam() == std::string("root") ? "0" : "1000") + "\n");
}

// Also where uid 0 would get capabilities by executing a program.
TEST_P(Posture, SecureBitsAreSetAndLocked) {
  constexpr int kNoRoot = 0x1 | 0x2;
  constexpr int kNoSetuidFixup = 0x4 | 0x8;
  constexpr int kKeepCapsLocked = 0x20;
  constexpr int kNoAmbientRaise = 0x40 | 0x80;
  const Ended ended = RunCommand({"--user", GetParam()},
                                 {"python3", "-c", "import ctypes\nprint(ctypes.CDLL(None).prctl(27, 0, 0, 0, 0))"});
  EXPECT_EQ(ended.out, std::to_string(kNoRoot | kNoSetuidFixup | kKeepCapsLocked | kNoAmbientRaise) + "\n")
      << ended.err;
}

TEST_P(Posture, NamesAndNumbersAreTheSandboxes) {
  EXPECT_EQ(Inside("hostname; cat /proc/sys/kernel/hostname"), "sandbox\nsandbox\n");
  EXPECT_EQ(Inside("ls /proc | grep -c '^[0-9]'; cat /proc/1/comm | head -c 12").substr(2), "caisson-gues");
  EXPECT_EQ(Inside("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '"), "lo\n");
  EXPECT_EQ(Inside("ls -A /home /home/agent/workspace /media /mnt /opt /srv 2> /dev/null | grep -v : | tr -d '\\n'"),
            "agent");
}

TEST_P(Posture, ReadOnlyPlacesStaySo) {
  EXPECT_EQ(
      Inside(
          "for f in /usr/x /dev/x /proc/sys/x /bin/x /dev/pts/x; do echo x 2> /dev/null > $f && echo $f; done; true"),
      "");
  EXPECT_EQ(
      Inside(
          "for f in /proc/kcore /proc/kallsyms /proc/keys /proc/timer_list; do head -c 1 $f 2> /dev/null; done; true"),
      "");
}

TEST_P(Posture, ProgramsAndPlacesThatMustWorkDo) {
  EXPECT_EQ(Inside("for d in /tmp /dev/shm /var/tmp $HOME; do echo x > $d/f && cat $d/f; done | sort -u"), "x\n");
  EXPECT_EQ(Inside("cat < /dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo x > /dev/null; "
                   "echo y > /dev/stderr 2> /dev/null; echo z > /dev/stdout"),
            "4\n4\nz\n");
  EXPECT_EQ(Inside("python3 -c 'import multiprocessing as m; print(m.Lock() is not None)'"), "True\n");
  EXPECT_EQ(Inside("cd /tmp && echo 'int main(void){return 0;}' > t.c && cc t.c -o t && ./t && echo built"), "built\n");
}

INSTANTIATE_TEST_SUITE_P(Users, Posture, ::testing::Values("agent", "root"));

class PostureOnTheHost : public IntegrationTest {
 protected:
  struct Holder {
    std::string name;
    std::set<std::string> files;  // what its descriptors are open on
  };
  static Holder Describe(pid_t pid) {
    const std::string process = "/proc/" + std::to_string(pid);
    Holder holder{StatusField(ReadFile(process + "/status"), "Name"), {}};
    for (const auto& fd : std::filesystem::directory_iterator(process + "/fd")) {
      std::error_code error;
      holder.files.insert(std::filesystem::read_symlink(fd, error).string());
    }
    return holder;
  }
};

TEST_F(PostureOnTheHost, DescriptorsOfTheCallerAndTheLauncherGoNoFurther) {
  const TempFolder folder;
  WriteFile(folder / "callers", "x");
  ProgramSpec spec = RunSpec({}, {"sh", "-c", "echo ready; read go"});
  Texts wrapped = {"bash", "-c", "exec 7< \"$0\"; exec \"$@\"", folder / "callers"};
  wrapped.insert(wrapped.end(), spec.argv.begin(), spec.argv.end());
  spec.argv = wrapped;
  spec.input = Input::kPipe;
  HostProgram program(spec);
  ASSERT_TRUE(program.AwaitOutput("ready")) << program.err();
  int guests = 0;
  for (const pid_t pid : ProcessesBelow(program.pid())) {
    const Holder holder = Describe(pid);
    EXPECT_FALSE(holder.files.contains(folder / "callers")) << holder.name << " has a descriptor of the caller's";
    if (!holder.name.starts_with("caisson-guest")) continue;
    ++guests;
    for (const std::string& file : holder.files) {
      const bool own = file == "/dev/null" || file.starts_with("socket:") || file.starts_with("pipe:") ||
                       file.starts_with("anon_inode:");
      EXPECT_TRUE(own) << "the guest has a descriptor of " << file;
    }
  }
  EXPECT_EQ(guests, 1);
  program.CloseInput();
  (void)program.Wait();
}

// What holds on a busy host too, where a measurement says little.
TEST_F(PostureOnTheHost, TheCgroupsOfASandboxHaveItsLimits) {
  ProgramSpec spec =
      RunSpec({"--memory", "64MiB", "--cpus", "0.5", "--pids", "40"}, {"sh", "-c", "echo ready; read go"});
  spec.input = Input::kPipe;
  HostProgram program(spec);
  ASSERT_TRUE(program.AwaitOutput("ready")) << program.err();
  std::string name;
  for (const pid_t pid : ProcessesBelow(program.pid())) {
    const std::string groups = ReadFile("/proc/" + std::to_string(pid) + "/cgroup");
    const std::size_t at = groups.find("/caisson/s");
    if (at == std::string::npos) continue;
    const std::size_t begin = at + std::string_view("/caisson/").size();
    name = groups.substr(begin, groups.find('/', begin) - begin);
  }
  ASSERT_NE(name, "");
  // What cgroup2 or cgroup v1 calls it.
  const std::vector<std::pair<std::set<std::string>, std::string>> limits = {
      {{"memory.max", "memory.limit_in_bytes"}, "67108864\n"},
      {{"pids.max"}, "40\n"},
      {{"cpu.cfs_quota_us"}, "50000\n"},
      {{"cpu.max"}, "50000 100000\n"}};
  std::set<std::string> found;
  for (const std::string& folder : CgroupFolders()) {
    for (const auto& [files, value] : limits) {
      for (const std::string& file : files) {
        const std::string content = ReadFile(folder + "/" + name + "/" + file);
        if (content.empty()) continue;
        EXPECT_EQ(content, value) << file;
        found.insert(file.substr(0, file.find('.')));
      }
    }
  }
  EXPECT_EQ(found, (std::set<std::string>{"cpu", "memory", "pids"}));
  program.CloseInput();
  (void)program.Wait();
}

class PostureOfTwo : public IntegrationTest {};

TEST_F(PostureOfTwo, SandboxesHaveDifferentUserIdsAndSeeNothingOfEachOther) {
  const std::string marker = UniqueMarker();
  ProgramSpec spec = RunSpec({}, {"sh", "-c",
                                  "echo x > /dev/shm/" + marker + "; echo y > /tmp/" + marker +
                                      "; cat /proc/self/uid_map; echo ready; read go"});
  spec.input = Input::kPipe;
  HostProgram first(spec);
  ASSERT_TRUE(first.AwaitOutput("ready"));
  const Ended second = RunScript({}, "cat /proc/self/uid_map; ls /dev/shm /tmp; ps ax");
  std::istringstream one(first.out());
  std::istringstream two(second.out);
  std::string zero, host_one, host_two;
  one >> zero >> host_one;
  two >> zero >> host_two;
  EXPECT_NE(host_one, host_two);
  EXPECT_EQ(second.out.find(marker), std::string::npos) << second.out;
  first.CloseInput();
  (void)first.Wait();
}

}  // namespace
}  // namespace caisson::support
