#include "caisson/storage/inventory.h"

#include <gtest/gtest.h>

#include "caisson/storage/host_image.h"
#include "caisson/storage/sandbox_folders.h"
#include "caisson/storage/scratch_folder.h"
#include "caisson/storage/uid_blocks.h"

namespace caisson::storage {
namespace {

// Without cgroups, which are the host's.
const Item* Find(const Inventory& inventory, const std::string& name) {
  for (const Item& item : inventory.items) {
    if (item.kind != ItemKind::kCgroup && item.name == name) return &item;
  }
  return nullptr;
}

TEST(ReadInventory, TellsWhatIsInUseFromWhatIsLeftOver) {
  const ScratchFolder data;
  const ScratchFolder runtime;
  const ScratchFolder host;
  for (const char* folder : {"images", "sandboxes", "spool"}) data.Make(folder);
  host.Make("etc");
  data.Make("images/" + HostSkeletonName(host.fd().get()));
  data.Make("images/host-0");
  data.Make("sandboxes/dead");
  data.Write("sandboxes/dead/file", 200'000);
  data.Write("store.img", 5000);
  const os::Fd live = *MakeSandboxFolder(data.Open("sandboxes"), "live");
  UidBlocks blocks = *UidBlocks::Open(runtime.fd());
  ASSERT_TRUE(*blocks.TakeThis(5));

  const Places places{
      .data = data.Again(), .runtime = runtime.Again(), .host_root = host.Again(), .data_path = data.path()};
  const auto inventory = ReadInventory(places);
  if (!inventory) GTEST_SKIP() << "no cgroups here: " << inventory.error().message();
  ASSERT_NE(Find(*inventory, "live"), nullptr);
  EXPECT_EQ(Find(*inventory, "live")->state, ItemState::kInUse);
  ASSERT_NE(Find(*inventory, "dead"), nullptr);
  EXPECT_EQ(Find(*inventory, "dead")->state, ItemState::kLeftOver);
  EXPECT_GE(Find(*inventory, "dead")->allocated.value, 200'000U);
  EXPECT_EQ(Find(*inventory, "host-0")->state, ItemState::kLeftOver);
  EXPECT_EQ(Find(*inventory, HostSkeletonName(host.fd().get()))->state, ItemState::kKept);
  ASSERT_TRUE(inventory->store);
  EXPECT_EQ(inventory->store->size.value, 5000U);
  EXPECT_GT(inventory->store->allocated.value, 0U);
  EXPECT_EQ(inventory->store->used.value, 0U) << "it is not mounted";
  EXPECT_EQ(inventory->uid_blocks, std::vector<std::uint32_t>{5});
  EXPECT_GT(inventory->disk_free.value, 0U);
  EXPECT_GE(inventory->disk_size, inventory->disk_free);
  EXPECT_TRUE(data.Has("sandboxes/dead/file")) << "looking changes nothing";
}

TEST(ReadInventory, WhereNothingIsThereIsNothing) {
  const auto inventory = ReadInventory({});
  if (!inventory) GTEST_SKIP() << "no cgroups here: " << inventory.error().message();
  for (const Item& item : inventory->items) EXPECT_EQ(item.kind, ItemKind::kCgroup);
  EXPECT_FALSE(inventory->store);
  EXPECT_EQ(inventory->disk_size.value, 0U);
}

}  // namespace
}  // namespace caisson::storage
