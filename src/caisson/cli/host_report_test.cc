#include "caisson/cli/host_report.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace caisson::cli {
namespace {

using storage::ItemKind;
using storage::ItemState;

storage::Inventory SomeInventory() {
  storage::Inventory inventory;
  inventory.items = {{ItemKind::kImage, "host-1", ItemState::kKept, KiB(8)},
                     {ItemKind::kLayer, "sb_a", ItemState::kInUse, KiB(4)},
                     {ItemKind::kLayer, "sb_b\x1b[31m", ItemState::kLeftOver, MiB(3)},
                     {ItemKind::kCgroup, "s3", ItemState::kInUse, {}}};
  inventory.uid_blocks = {3};
  inventory.disk_size = GiB(2);
  inventory.disk_free = GiB(1);
  return inventory;
}

storage::Collected SomeCollected() {
  storage::Collected collected;
  collected.removed = {{ItemKind::kLayer, "sb_\n", MiB(2)}, {ItemKind::kCgroup, "s3", {}}};
  collected.failed.push_back({ItemKind::kImage, "host-1", Error(Code::kInternal, "no").Because("a cause")});
  return collected;
}

TEST(RoundedBytes, HasOneDecimalAndTheRightUnit) {
  EXPECT_EQ(RoundedBytes({0}), "0B");
  EXPECT_EQ(RoundedBytes({1023}), "1023B");
  EXPECT_EQ(RoundedBytes({1536}), "1.5KiB");
  EXPECT_EQ(RoundedBytes({(1U << 20U) - 1}), "1.0MiB");
  EXPECT_EQ(RoundedBytes({~std::uint64_t{0}}), "16.0EiB");
}

TEST(InventoryTable, CountsByStateAndEscapesNames) {
  const std::string text = InventoryTable(SomeInventory(), "/data\x07");
  EXPECT_NE(text.find("layers left over                   1      3.0MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("left over: layer sb_b\\x1b[31m"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text.find("store"), std::string::npos) << "there is none";
}

TEST(InventoryJson, HasEveryFieldAlsoWhereThereIsNothing) {
  const auto report = boost::json::parse(InventoryJson(SomeInventory(), "/data")).as_object();
  EXPECT_EQ(report.at("layers").at("left_over").at("allocated_bytes").to_number<int>(), 3 << 20);
  EXPECT_EQ(report.at("layers").at("in_use").at("count").to_number<int>(), 1);
  EXPECT_EQ(report.at("layers").at("kept").at("count").to_number<int>(), 0);
  EXPECT_EQ(report.at("cgroups").at("in_use").at("count").to_number<int>(), 1);
  EXPECT_EQ(report.at("uid_blocks_in_use").to_number<int>(), 1);
  EXPECT_EQ(report.at("items").as_array().size(), 4U);
  EXPECT_TRUE(report.at("store").is_null());
  const auto empty = boost::json::parse(InventoryJson({}, "/data")).as_object();
  EXPECT_EQ(empty.size(), report.size());
  EXPECT_EQ(empty.at("images").at("kept").at("count").to_number<int>(), 0);
  storage::Inventory with_store;
  with_store.store = storage::StoreUsage{GiB(4), MiB(10), MiB(7)};
  EXPECT_EQ(boost::json::parse(InventoryJson(with_store, "/")).at("store").at("used_bytes").to_number<int>(), 7 << 20);
}

TEST(RemovalText, SaysWhatWasRemovedOrWouldBe) {
  EXPECT_EQ(RemovalText(SomeCollected(), Tense::kDone),
            "removed layer sb_\\n (2.0MiB)\nremoved cgroup s3\nfreed 2.0MiB\n");
  EXPECT_EQ(RemovalText(SomeCollected(), Tense::kWouldBe).find("would remove layer"), 0U);
  EXPECT_EQ(RemovalText({}, Tense::kDone), "nothing to remove\n");
}

TEST(RemovalJson, TellsRemovedFromWouldRemove) {
  const auto done = boost::json::parse(RemovalJson(SomeCollected(), Tense::kDone)).as_object();
  EXPECT_EQ(done.at("removed").as_array().size(), 2U);
  EXPECT_TRUE(done.at("would_remove").as_array().empty());
  EXPECT_EQ(done.at("freed_bytes").to_number<int>(), 2 << 20);
  EXPECT_EQ(done.at("failed").at(0).at("cause"), "a cause");
  const auto shown = boost::json::parse(RemovalJson(SomeCollected(), Tense::kWouldBe)).as_object();
  EXPECT_TRUE(shown.at("removed").as_array().empty());
  EXPECT_EQ(shown.at("would_remove").as_array().size(), 2U);
}

}  // namespace
}  // namespace caisson::cli
