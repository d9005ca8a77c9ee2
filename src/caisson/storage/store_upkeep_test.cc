#include "caisson/storage/store_upkeep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caisson/storage/collection.h"
#include "caisson/storage/scratch_store.h"

namespace caisson::storage {
namespace {

Deadline Never() { return Deadline(Deadline::Clock::time_point::max()); }

class StoreUpkeep : public ScratchStoreTest {
 protected:
  void SetUp() override {
    ScratchStoreTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto store = Open();
    ASSERT_TRUE(store) << Text(store.error());
    BtrfsLayers layers(std::move(*store));
    auto live = layers.CreateLayer("live", MiB(8));
    ASSERT_TRUE(live) << Text(live.error());
    live_ = std::move(*live);
    const auto dead = layers.CreateLayer("dead", MiB(8));
    ASSERT_TRUE(dead) << Text(dead.error());
    const os::Fd file(openat(dead->get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_TRUE(os::WriteAll(file.get(), std::string(1'000'000, 'x')));
    fsync(file.get());
  }
  void TearDown() override {
    live_.Reset();
    ScratchStoreTest::TearDown();
  }

  Places OpenPlaces() const {
    return {.data = os::Fd(openat(data_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
            .runtime = {},
            .host_root = os::Fd(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
            .data_path = path_};
  }
  static std::vector<std::string> NamesOf(const Collected& collected) {
    for (const NotRemoved& failed : collected.failed) ADD_FAILURE() << failed.name << ": " << Text(failed.error);
    std::vector<std::string> names;
    for (const Removed& removed : collected.removed) names.push_back(removed.name);
    return names;
  }

  os::Fd live_;
};

TEST_F(StoreUpkeep, LayersAreInTheInventory) {
  const auto inventory = ReadInventory(OpenPlaces());
  if (!inventory) GTEST_SKIP() << "no cgroups here: " << inventory.error().message();
  ASSERT_TRUE(inventory->store);
  EXPECT_GE(inventory->store->size, MiB(256));
  EXPECT_GT(inventory->store->used.value, 1'000'000U);
  int found = 0;
  for (const Item& item : inventory->items) {
    if (item.kind != ItemKind::kLayer) continue;
    ++found;
    EXPECT_EQ(item.state, item.name == "live" ? ItemState::kInUse : ItemState::kLeftOver) << item.name;
    if (item.name == "dead") {
      EXPECT_GE(item.allocated.value, 1'000'000U);
    }
  }
  EXPECT_EQ(found, 2);
}

TEST_F(StoreUpkeep, LeftOversAreCollectedAndNothingElse) {
  EXPECT_EQ(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kBrief)), std::vector<std::string>{"dead"});
  EXPECT_FALSE(Exists("store/layers/dead"));
  EXPECT_TRUE(Exists("store/layers/live"));
  EXPECT_TRUE(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kWhole)).empty());
}

TEST_F(StoreUpkeep, AStoreThatIsNotMountedIsMountedForTheWholeWorkOnly) {
  live_.Reset();
  ASSERT_TRUE(UnmountIn(data_, "store"));
  EXPECT_TRUE(MountsIn(data_).empty());
  EXPECT_TRUE(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kBrief)).empty());
  EXPECT_TRUE(MountsIn(data_).empty());
  EXPECT_EQ(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kWhole)), (std::vector<std::string>{"dead", "live"}));
  EXPECT_EQ(MountsIn(data_), std::vector<std::string>{"store"});
}

TEST_F(StoreUpkeep, WithoutAStoreThereIsNothingToDo) {
  live_.Reset();
  ASSERT_TRUE(UnmountIn(data_, "store"));
  ASSERT_EQ(unlinkat(data_.get(), "store.img", 0), 0);
  EXPECT_FALSE(ReadStore(data_));
  EXPECT_FALSE(OpenStoreLayers(data_).valid());
  EXPECT_TRUE(NamesOf(CollectFolders(OpenPlaces(), Never(), Effort::kWhole)).empty());
  EXPECT_FALSE(Exists("store.img")) << "nothing is made";
}

}  // namespace
}  // namespace caisson::storage
