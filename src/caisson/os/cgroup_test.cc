#include "caisson/os/cgroup.h"

#include <gtest/gtest.h>

#include <string>

#include "caisson/os/cgroup_mounts.h"

namespace caisson::os {
namespace {

using Path = std::optional<std::string>;

TEST(ParseCgroupMounts, FindsTheUnifiedHierarchyAlone) {
  const CgroupMounts mounts = ParseCgroupMounts(
      "22 28 0:20 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
      "28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n"
      "31 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  EXPECT_EQ(mounts.unified, Path("/sys/fs/cgroup"));
  EXPECT_EQ(mounts.memory, std::nullopt);
  EXPECT_EQ(mounts.cpu, std::nullopt);
  EXPECT_EQ(mounts.pids, std::nullopt);
}

TEST(ParseCgroupMounts, FindsTheHybridHierarchies) {
  const CgroupMounts mounts = ParseCgroupMounts(
      "30 22 0:25 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755\n"
      "31 30 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate\n"
      "32 30 0:27 / /sys/fs/cgroup/systemd rw,nosuid shared:11 - cgroup cgroup rw,xattr,name=systemd\n"
      "33 30 0:30 / /sys/fs/cgroup/cpuset rw,nosuid shared:15 - cgroup cgroup rw,cpuset\n"
      "34 30 0:31 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:16 - cgroup cgroup rw,cpu,cpuacct\n"
      "35 30 0:32 / /sys/fs/cgroup/pids rw,nosuid shared:17 - cgroup cgroup rw,pids\n"
      "36 30 0:33 / /sys/fs/cgroup/memory rw,nosuid shared:18 - cgroup cgroup rw,memory\n");
  EXPECT_EQ(mounts.unified, Path("/sys/fs/cgroup/unified"));
  EXPECT_EQ(mounts.memory, Path("/sys/fs/cgroup/memory"));
  EXPECT_EQ(mounts.cpu, Path("/sys/fs/cgroup/cpu,cpuacct"));
  EXPECT_EQ(mounts.pids, Path("/sys/fs/cgroup/pids"));
}

TEST(ParseCgroupMounts, FindsVersionOneAlone) {
  const CgroupMounts mounts = ParseCgroupMounts(
      "34 30 0:31 / /cgroup/cpu rw - cgroup cgroup rw,cpuacct,cpu\n"
      "36 30 0:33 / /cgroup/memory rw - cgroup none rw,memory");
  EXPECT_EQ(mounts.unified, std::nullopt);
  EXPECT_EQ(mounts.memory, Path("/cgroup/memory"));
  EXPECT_EQ(mounts.cpu, Path("/cgroup/cpu"));
  EXPECT_EQ(mounts.pids, std::nullopt);
}

TEST(ParseCgroupMounts, TakesNoControllerForAnotherOfASimilarName) {
  const CgroupMounts mounts = ParseCgroupMounts(
      "33 30 0:30 / /cgroup/a rw - cgroup cgroup rw,cpuset,cpuacct,name=memory\n"
      "34 30 0:31 / /cgroup/b rw,memory,cpu,pids - tmpfs cgroup rw,memory,cpu,pids\n");
  EXPECT_EQ(mounts.memory, std::nullopt);
  EXPECT_EQ(mounts.cpu, std::nullopt);
  EXPECT_EQ(mounts.pids, std::nullopt);
}

TEST(ParseCgroupMounts, ReadsAMountWithoutASource) {
  const CgroupMounts mounts = ParseCgroupMounts(
      "31 22 0:26 / /two rw -  cgroup2\n"
      "32 22 0:27 / /unified rw - cgroup2  rw\n"
      "33 30 0:33 / /memory rw - cgroup  rw,memory\n");
  EXPECT_EQ(mounts.unified, Path("/unified"));
  EXPECT_EQ(mounts.memory, Path("/memory"));
}

TEST(ParseCgroupMounts, PartsWordsAtSpacesAlone) {
  EXPECT_EQ(ParseCgroupMounts("1 2 0:3 / /a\rb\vc rw - cgroup2 c rw\n").unified, Path("/a\rb\vc"));
}

TEST(ParseCgroupMounts, PassesOverALineWithoutAPoint) {
  EXPECT_EQ(ParseCgroupMounts("36 35 98:0 - cgroup2 cgroup2 rw\n").unified, std::nullopt);
}

TEST(ParseCgroupMounts, TakesOnlyOctalDigitsForAnEscape) {
  EXPECT_EQ(ParseCgroupMounts("1 2 0:3 / /a\\zzz\\04 rw - cgroup2 c rw\n").unified, Path("/a\\zzz\\04"));
  EXPECT_EQ(ParseCgroupMounts("1 2 0:3 / /a\\377 rw - cgroup2 c rw\n").unified, Path("/a\377"));
}

TEST(ParseCgroupMounts, ReadsALineWithSeveralOptionalFieldsOrNone) {
  EXPECT_EQ(ParseCgroupMounts("1 2 0:3 / /a rw shared:1 master:2 propagate_from:3 - cgroup2 c rw\n").unified,
            Path("/a"));
  EXPECT_EQ(ParseCgroupMounts("1 2 0:3 / /a rw - cgroup2 c rw\n").unified, Path("/a"));
}

TEST(ParseCgroupMounts, FindsNothingInNonsense) {
  for (const std::string& text : {std::string(), std::string("\n\n\n"), std::string(" - "), std::string("- cgroup2"),
                                  std::string("1 2 3\n - \n"), std::string(100'000, '-'), std::string(1000, '\0')}) {
    const CgroupMounts mounts = ParseCgroupMounts(text);
    EXPECT_EQ(mounts.unified, std::nullopt);
    EXPECT_EQ(mounts.memory, std::nullopt);
  }
}

TEST(OomKills, ReadsBothVersionsFiles) {
  EXPECT_EQ(OomKills("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 9\n"), 2U);
  EXPECT_EQ(OomKills("oom_kill_disable 1\nunder_oom 1\noom_kill 7\n"), 7U);
  EXPECT_EQ(OomKills("oom_kill 18446744073709551615"), 18446744073709551615U);
}

TEST(OomKills, IsZeroWithoutACount) {
  for (const char* text :
       {"", "\n", "oom_kill", "oom_kill\n", "oom_kill \n", "oom_kill x\n", "oom_kill -1\n",
        "oom_kill 18446744073709551616\n", "xoom_kill 5\n", "oom_kill_disable 1\n", "oom_kill\t5\n"}) {
    EXPECT_EQ(OomKills(text), 0U) << text;
  }
  EXPECT_EQ(OomKills(std::string(100'000, '\n')), 0U);
  EXPECT_EQ(OomKills(std::string_view("\0oom_kill 5", 11)), 0U);
}

TEST(IsPopulated, ReadsCgroupEvents) {
  EXPECT_TRUE(IsPopulated("populated 1\nfrozen 0\n"));
  EXPECT_TRUE(IsPopulated("frozen 0\npopulated 1"));
  EXPECT_FALSE(IsPopulated("populated 0\nfrozen 1\n"));
  EXPECT_FALSE(IsPopulated(""));
}

TEST(SaysFrozen, ReadsCgroupEvents) {
  EXPECT_TRUE(SaysFrozen("populated 1\nfrozen 1\n"));
  EXPECT_FALSE(SaysFrozen("populated 1\nfrozen 0\n"));
  EXPECT_FALSE(SaysFrozen("populated 1\n"));  // before Linux 5.2
}

TEST(CpuMicroseconds, ReadsTheTotalOnly) {
  EXPECT_EQ(CpuMicroseconds("usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n"), 1234567U);
  EXPECT_EQ(CpuMicroseconds("user_usec 1\nsystem_usec 2\n"), 0U);
  EXPECT_EQ(CpuMicroseconds("usage_usec_x 5\nusage_usec 6\n"), 6U);
}

TEST(ProcessLimitHits, IsTheCountOfTheLineMax) {
  EXPECT_EQ(ProcessLimitHits("max 7\n"), 7U);
  EXPECT_EQ(ProcessLimitHits("max 0\n"), 0U);
  EXPECT_EQ(ProcessLimitHits(""), 0U);
}

}  // namespace
}  // namespace caisson::os
