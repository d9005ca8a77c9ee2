#include "caisson/storage/returning_layer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "caisson/os/identity.h"
#include "caisson/storage/kept_layer.h"
#include "caisson/storage/kept_record.h"
#include "caisson/storage/sandbox_folders.h"
#include "caisson/storage/scratch_folder.h"

namespace caisson::storage {
namespace {

constexpr const char* kName = "sb_aaaaaaaaaaaaaaaaaaaaaaaaaa";
constexpr std::uint32_t kFirstId = os::kFirstUid + 3 * os::kUidsPerBlock;

class ReturningLayerTest : public testing::Test {
 protected:
  // A layer as a sandbox leaves it.
  os::Fd MakeLayer() const {
    auto layer = MakeSandboxFolder(layers_, kName);
    EXPECT_TRUE(layer);
    for (const char* folder : {"upper_root", "work_root/work/incompat/volatile", "work_workspace"}) {
      std::filesystem::create_directories(LayerPath() + "/" + folder);
    }
    std::ofstream(LayerPath() + "/upper_root/file") << "content";
    return *std::move(layer);
  }
  os::Fd MakeFolder(const char* name) const {
    data_.Make(name);
    return data_.Open(name);
  }
  std::string LayerPath() const { return data_.path() + "/layers/" + kName; }
  Result<ReturnedLayer> Take() const { return TakeKeptLayer(data_.fd(), layers_, kName); }

  ScratchFolder data_;
  os::Fd layers_ = MakeFolder("layers");
  os::Fd copies_ = MakeFolder("copies");
};

TEST_F(ReturningLayerTest, ComesBackAsItWasButForTheWorkFolders) {
  {
    const os::Fd layer = MakeLayer();
    ASSERT_TRUE(KeepForReturn(layer, {.name = kName, .first_id = kFirstId, .image = "host-1"}));
    EXPECT_EQ(Take().error().errno_value(), EBUSY) << "its sandbox lives";
  }
  for (int time = 0; time < 2; ++time) {
    const auto layer = Take();
    ASSERT_TRUE(layer) << layer.error().message();
    EXPECT_EQ(layer->first_id, kFirstId);
    EXPECT_EQ(layer->image, "host-1");
    EXPECT_FALSE(layer->copy);
    EXPECT_TRUE(std::filesystem::exists(LayerPath() + "/upper_root/file"));
    EXPECT_FALSE(std::filesystem::exists(LayerPath() + "/work_root"));
    EXPECT_FALSE(std::filesystem::exists(LayerPath() + "/work_workspace"));
    // On other ids by now: those on the disk are the first ones.
    ASSERT_TRUE(KeepForReturn(layer->folder, {.name = kName, .first_id = kFirstId + 1, .image = "host-2"}));
    EXPECT_EQ(Take().error().errno_value(), EBUSY);
  }
}

TEST_F(ReturningLayerTest, IsNobodysLeftOverUntilItIsForgotten) {
  const auto is_left_over = [&] { return TakeLeftOverFolder(layers_, kName).valid(); };
  ASSERT_TRUE(KeepForReturn(MakeLayer(), {.name = kName, .first_id = kFirstId, .image = "host-1"}));
  EXPECT_FALSE(is_left_over());
  ASSERT_TRUE(ForgetKept(data_.Open(std::string("layers/") + kName)));
  ASSERT_TRUE(ForgetKept(data_.Open(std::string("layers/") + kName))) << "again";
  EXPECT_EQ(Take().error().errno_value(), ENOENT);
  EXPECT_TRUE(is_left_over());
}

TEST_F(ReturningLayerTest, BringsTheCopyOfItsWorkspaceUnderItsOwnName) {
  auto copy = MakeSandboxFolder(copies_, "sb_bbbbbbbbbbbbbbbbbbbbbbbbbb");
  ASSERT_TRUE(copy);
  ASSERT_EQ(mkdirat(copy->get(), "workspace", 0700), 0);
  ASSERT_TRUE(KeepForReturn(MakeLayer(), {.name = kName, .first_id = kFirstId, .image = "host-1", .copy = &*copy}));
  EXPECT_FALSE(Take()) << "somebody has the copy";
  copy->Reset();
  const auto layer = Take();
  ASSERT_TRUE(layer) << layer.error().message();
  ASSERT_TRUE(layer->copy);
  EXPECT_EQ(os::PathOf(layer->copy->folder), data_.path() + "/copies/" + kName + "/workspace");
  // Again under the name it has by now.
  EXPECT_TRUE(KeepForReturn(layer->folder,
                            {.name = kName, .first_id = kFirstId, .image = "host-1", .copy = &layer->copy->lock}));
}

TEST_F(ReturningLayerTest, LeavesAloneWhatWasKeptToBeLookedAt) {
  proto::KeptSandbox record;
  record.set_version(kKeptVersion);
  record.set_first_id(kFirstId);
  ASSERT_TRUE(KeepLayer(MakeLayer(), record.SerializeAsString(), "host-1"));
  EXPECT_FALSE(*MayReturn(layers_, kName));
  EXPECT_EQ(Take().error().errno_value(), ENOENT);
  EXPECT_TRUE(std::filesystem::exists(LayerPath() + "/work_root")) << "nothing of it is touched";
}

TEST_F(ReturningLayerTest, RefusesADamagedRecord) {
  ASSERT_TRUE(KeepLayer(MakeLayer(), "\xff", "host-1"));
  EXPECT_EQ(Take().error().errno_value(), ENOENT);
}

}  // namespace
}  // namespace caisson::storage
