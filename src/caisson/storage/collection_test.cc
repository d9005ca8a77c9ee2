#include "caisson/storage/collection.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <optional>

#include "caisson/os/folder_lock.h"
#include "caisson/storage/host_image.h"
#include "caisson/storage/sandbox_folders.h"
#include "caisson/storage/scratch_folder.h"

namespace caisson::storage {
namespace {

Deadline Never() { return Deadline(Deadline::Clock::time_point::max()); }

// A data folder and a host of its own. Cgroups are the host's, so they are not collected here: without a `caisson`
// folder of this test's there is nothing that may be touched.
class Collection : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: the image belongs to it";
    data_.Make("images");
    data_.Make("sandboxes");
    host_.Make("etc");
    host_.Make("usr");
  }
  Places OpenPlaces() const {
    return {.data = data_.Again(), .runtime = {}, .host_root = host_.Again(), .data_path = data_.path()};
  }
  std::string Current() const { return HostSkeletonName(host_.fd().get()); }

  ScratchFolder data_;
  ScratchFolder host_;
};

// The names of what was removed, but for cgroups of the host.
std::vector<std::string> NamesOf(const Collected& collected) {
  std::vector<std::string> names;
  for (const Removed& removed : collected.removed) names.push_back(removed.name);
  return names;
}

TEST_F(Collection, TakesLayersThatNobodyHasLocked) {
  const os::Fd layers = data_.Open("sandboxes");
  const os::Fd live = *MakeSandboxFolder(layers, "live");
  {
    const auto dead = MakeSandboxFolder(layers, "dead");
    ASSERT_TRUE(dead);
  }
  data_.Write("sandboxes/dead/file", 100'000);
  data_.Write("sandboxes/live/file", 1000);
  const Places places = OpenPlaces();
  Collected collected = CollectFolders(places, Never(), Effort::kWhole);
  EXPECT_EQ(NamesOf(collected), std::vector<std::string>{"dead"});
  EXPECT_GE(collected.removed[0].freed.value, 100'000U);
  EXPECT_TRUE(collected.failed.empty());
  EXPECT_FALSE(data_.Has("sandboxes/dead"));
  EXPECT_TRUE(data_.Has("sandboxes/live/file"));
  EXPECT_TRUE(NamesOf(CollectFolders(places, Never(), Effort::kWhole)).empty()) << "a second time finds nothing";
}

TEST_F(Collection, TakesImagesOfOlderSettingsUnlessSomebodyUsesThem) {
  const os::Fd images = data_.Open("images");
  std::optional<HostImage> first = *PrepareHostImage(host_.fd().get(), images.get());
  const std::string older = first->skeleton;
  host_.Make("lib");  // the host's settings change
  ASSERT_NE(Current(), older);
  const Places places = OpenPlaces();
  EXPECT_TRUE(NamesOf(CollectFolders(places, Never(), Effort::kBrief)).empty()) << "it is in use";
  EXPECT_TRUE(data_.Has("images/" + older + "/etc"));
  first.reset();
  {
    const auto second = PrepareHostImage(host_.fd().get(), images.get());
    ASSERT_TRUE(second);
  }
  EXPECT_EQ(NamesOf(CollectFolders(places, Never(), Effort::kBrief)), std::vector<std::string>{older});
  EXPECT_EQ(os::NamesIn(images), std::vector<std::string>{Current()}) << "the one that fits is kept";
}

TEST_F(Collection, TakesHalfMadeImagesUnlessTheirMakerLives) {
  data_.Make("images/host-1.new.dead");
  data_.Write("images/host-1.new.dead/file", 10);
  data_.Make("images/host-1.new.live");
  data_.Make("images/other");
  const os::Fd images = data_.Open("images");
  const os::Fd live = os::TryOwnFolder(images, "host-1.new.live");
  EXPECT_EQ(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kBrief)),
            std::vector<std::string>{"host-1.new.dead"});
  EXPECT_TRUE(data_.Has("images/host-1.new.live"));
  EXPECT_TRUE(data_.Has("images/other")) << "nothing says that it is Caisson's";
}

TEST_F(Collection, FollowsNoLinkOfALayer) {
  data_.Make("outside");
  data_.Write("outside/precious", 10);
  data_.Make("sandboxes/dead");
  ASSERT_EQ(symlinkat("../../outside", data_.fd().get(), "sandboxes/dead/link"), 0);
  ASSERT_EQ(symlinkat("../outside", data_.fd().get(), "sandboxes/link"), 0);
  EXPECT_EQ(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kWhole)), std::vector<std::string>{"dead"});
  EXPECT_TRUE(data_.Has("outside/precious"));
}

TEST_F(Collection, StopsAtItsDeadlineAndGoesOnTheNextTime) {
  data_.Make("sandboxes/dead");
  for (int i = 0; i < 100; ++i) data_.Write("sandboxes/dead/" + std::to_string(i), 0);
  const Collected none = CollectFolders(OpenPlaces(), Deadline::In(std::chrono::milliseconds(-1)), Effort::kBrief);
  EXPECT_TRUE(none.removed.empty());
  ASSERT_EQ(none.failed.size(), 1U);
  EXPECT_EQ(none.failed[0].error.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(data_.Has("sandboxes/dead/99"));
  EXPECT_EQ(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kBrief)), std::vector<std::string>{"dead"});
}

TEST_F(Collection, ASkeletonRemovedWhileItIsAskedForIsMadeAgain) {
  const os::Fd images = data_.Open("images");
  for (int round = 0; round < 50; ++round) {
    const pid_t pid = fork();
    if (pid == 0) {
      while (true) (void)RemoveSkeleton(images, Current(), Never());
    }
    const auto image = PrepareHostImage(host_.fd().get(), images.get());
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    ASSERT_TRUE(image) << image.error().message();
    ASSERT_TRUE(os::IsStillAt(image->use, images, image->skeleton));
    ASSERT_TRUE(data_.Has("images/" + image->skeleton + "/etc/passwd")) << "whole";
  }
}

}  // namespace
}  // namespace caisson::storage
