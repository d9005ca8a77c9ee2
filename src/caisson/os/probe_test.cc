#include "caisson/os/probe.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

namespace caisson::os {
namespace {

TEST(ProbeHost, EveryPrimitiveHasAStableNameAndSaysWhatItCosts) {
  std::set<std::string> names;
  for (const Primitive& primitive : ProbeHost()) {
    EXPECT_TRUE(names.insert(primitive.name).second) << primitive.name << " twice";
    EXPECT_EQ(primitive.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
    EXPECT_FALSE(primitive.found.empty()) << primitive.name;
    const bool is_ok = primitive.finding == Finding::kOk;
    EXPECT_EQ(primitive.cost.empty(), is_ok) << primitive.name;
    EXPECT_EQ(primitive.remedy.empty(), is_ok) << primitive.name;
  }
  for (const char* name : {"root", "clone3", "user_namespace", "landlock", "seccomp", "overlay_on_id_mapped_layers"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(ProbeHost, SaysWithoutRootThatRootIsMissing) {
  const std::vector<Primitive> list = ProbeHost();
  const auto root = std::find_if(list.begin(), list.end(), [](const Primitive& p) { return p.name == "root"; });
  ASSERT_NE(root, list.end());
  EXPECT_EQ(root->finding, geteuid() == 0 ? Finding::kOk : Finding::kMissing);
  if (geteuid() != 0) {
    EXPECT_FALSE(CanMakeSandboxes(list));
  }
}

TEST(ProbeHost, LeavesNoChild) {
  ProbeHost();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(CanMakeSandboxes, IsFalseWhenSomethingIsMissingOrUntested) {
  const auto with = [](Finding finding) {
    return std::vector<Primitive>{{"a", Finding::kOk, "", "", ""}, {"b", finding, "", "", ""}};
  };
  EXPECT_TRUE(CanMakeSandboxes(with(Finding::kOk)));
  EXPECT_TRUE(CanMakeSandboxes(with(Finding::kDegraded)));
  EXPECT_FALSE(CanMakeSandboxes(with(Finding::kMissing)));
  EXPECT_FALSE(CanMakeSandboxes(with(Finding::kUntested)));
}

TEST(TakesCaissonIds, FindsAnOverlap) {
  EXPECT_FALSE(TakesCaissonIds(""));
  EXPECT_FALSE(TakesCaissonIds("alice:100000:65536\nbob:165536:65536\n"));
  EXPECT_FALSE(TakesCaissonIds("below:1879047000:1192\n"));
  EXPECT_TRUE(TakesCaissonIds("last_id_touches:1879048191:2\n"));
  EXPECT_TRUE(TakesCaissonIds("alice:100000:65536\ninside:1879048192:1"));
  EXPECT_TRUE(TakesCaissonIds("covers:0:4294967295"));
  EXPECT_FALSE(TakesCaissonIds("above:2147483648:65536"));
  EXPECT_FALSE(TakesCaissonIds("empty:1879048192:0"));
  EXPECT_FALSE(TakesCaissonIds("nonsense\n:::\nx:y:z\n"));
}

TEST(FindingName, IsStable) {
  EXPECT_EQ(FindingName(Finding::kOk), "ok");
  EXPECT_EQ(FindingName(Finding::kDegraded), "degraded");
  EXPECT_EQ(FindingName(Finding::kMissing), "missing");
  EXPECT_EQ(FindingName(Finding::kUntested), "untested");
}

}  // namespace
}  // namespace caisson::os
