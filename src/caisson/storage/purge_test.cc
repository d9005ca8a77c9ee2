#include "caisson/storage/purge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "caisson/storage/scratch_folder.h"

// Purge as a whole takes the host's cgroups with it: tests/integration/collect_test.cc runs it where it may. Here is
// what it refuses, and what it shows.

namespace caisson::storage {
namespace {

class PurgeFolders : public testing::Test {
 protected:
  void SetUp() override {
    scratch_.Make("data");
    scratch_.Make("data/sandboxes");
    scratch_.Make("data/sandboxes/sb_1");
    scratch_.Make("runtime");
    scratch_.Write("data/unknown", 100);
  }
  Places OpenPlaces() const { return {scratch_.Open("data"), scratch_.Open("runtime"), scratch_.Again(), Data()}; }
  std::string Data() const { return scratch_.path() + "/data"; }
  std::string Runtime() const { return scratch_.path() + "/runtime"; }

  ScratchFolder scratch_;
};

TEST_F(PurgeFolders, ShowsAndRemovesNothing) {
  const auto shown = Purge(OpenPlaces(), Data(), Runtime(), PurgeMode::kShow);
  if (!shown) GTEST_SKIP() << "no cgroups here: " << shown.error().message();
  const auto names = [&](const std::string& name) {
    return std::count_if(shown->removed.begin(), shown->removed.end(),
                         [&](const Removed& item) { return item.kind != ItemKind::kCgroup && item.name == name; });
  };
  EXPECT_EQ(names("sb_1"), 1);
  EXPECT_EQ(names(Data() + "/unknown"), 1);
  EXPECT_EQ(names(Data()), 1);
  EXPECT_EQ(names(Runtime()), 1);
  EXPECT_TRUE(scratch_.Has("data/sandboxes/sb_1"));
  EXPECT_TRUE(scratch_.Has("data/unknown"));
}

TEST_F(PurgeFolders, RefusesWhileTheDataFolderIsInUse) {
  const os::Fd user = scratch_.Open("data");
  ASSERT_TRUE(LockForUse(user, Data()));
  const auto refused = Purge(OpenPlaces(), Data(), Runtime(), PurgeMode::kRemove);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kConflict);
  EXPECT_TRUE(scratch_.Has("data/unknown"));
}

TEST_F(PurgeFolders, RefusesAndNamesTheSandboxes) {
  UidBlocks blocks = *UidBlocks::Open(scratch_.Open("runtime"));
  ASSERT_TRUE(*blocks.TakeThis(12));
  ASSERT_TRUE(*blocks.TakeThis(13));
  const auto refused = Purge(OpenPlaces(), Data(), Runtime(), PurgeMode::kRemove);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().cause().find("s12, s13"), std::string::npos) << refused.error().cause();
  EXPECT_TRUE(scratch_.Has("data/unknown"));
}

TEST_F(PurgeFolders, ARemovedFolderIsNotUsed) {
  const os::Fd user = scratch_.Open("data");
  ASSERT_EQ(renameat(scratch_.fd().get(), "data", scratch_.fd().get(), "gone"), 0);
  EXPECT_EQ(LockForUse(user, Data()).error().code(), Code::kUnavailable);
  scratch_.Make("data");
  EXPECT_EQ(LockForUse(user, Data()).error().code(), Code::kUnavailable) << "another folder of that name";
}

}  // namespace
}  // namespace caisson::storage
