#include "caisson/cli/host_report.h"

#include <array>
#include <boost/json.hpp>
#include <cstdio>

#include "caisson/base/utf8.h"
#include "caisson/wire/json_text.h"

namespace caisson::cli {
namespace {

using storage::Item;
using storage::ItemKind;
using storage::ItemState;

struct Sum {
  std::uint64_t count = 0;
  Bytes allocated;
};

Sum SumOf(const storage::Inventory& inventory, ItemKind kind, ItemState state) {
  Sum sum;
  for (const Item& item : inventory.items) {
    if (item.kind != kind || item.state != state) continue;
    ++sum.count;
    sum.allocated.value += item.allocated.value;
  }
  return sum;
}

std::string Row(const std::string& name, const std::string& count, const std::string& size) {
  std::array<char, 128> line{};
  std::snprintf(line.data(), line.size(), "%-28s%8s%12s\n", name.c_str(), count.c_str(), size.c_str());
  return line.data();
}

std::string Row(const std::string& name, const Sum& sum) {
  return Row(name, std::to_string(sum.count), RoundedBytes(sum.allocated));
}

boost::json::object Group(const storage::Inventory& inventory, ItemKind kind, std::initializer_list<ItemState> states) {
  boost::json::object group;
  for (const ItemState state : states) {
    const Sum sum = SumOf(inventory, kind, state);
    boost::json::object entry;
    entry["count"] = sum.count;
    if (kind != ItemKind::kCgroup) entry["allocated_bytes"] = sum.allocated.value;
    group[std::string(storage::StateName(state))] = std::move(entry);
  }
  return group;
}

boost::json::array NamesAndReasons(const std::vector<storage::NotRemoved>& items) {
  boost::json::array list;
  for (const storage::NotRemoved& item : items) {
    boost::json::object entry;
    entry["kind"] = std::string(storage::KindName(item.kind));
    entry["name"] = item.name;
    entry["message"] = item.error.message();
    entry["cause"] = item.error.cause();
    list.push_back(std::move(entry));
  }
  return list;
}

std::uint64_t FreedBytes(const storage::Collected& collected) {
  std::uint64_t sum = 0;
  for (const storage::Removed& removed : collected.removed) sum += removed.freed.value;
  return sum;
}

}  // namespace

std::string RoundedBytes(Bytes bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes.value);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f%s" : "%.1f%s", value, kUnits[unit]);
  return text.data();
}

std::string InventoryTable(const storage::Inventory& inventory, const std::string& data_directory) {
  std::string text = "data folder " + Printable(data_directory) + "\n\n";
  text += Row("", "count", "on disk");
  text += Row("images in use", SumOf(inventory, ItemKind::kImage, ItemState::kInUse));
  text += Row("images kept", SumOf(inventory, ItemKind::kImage, ItemState::kKept));
  text += Row("images left over", SumOf(inventory, ItemKind::kImage, ItemState::kLeftOver));
  text += Row("layers in use", SumOf(inventory, ItemKind::kLayer, ItemState::kInUse));
  text += Row("layers kept", SumOf(inventory, ItemKind::kLayer, ItemState::kKept));
  text += Row("layers left over", SumOf(inventory, ItemKind::kLayer, ItemState::kLeftOver));
  text += Row("workspace copies in use", SumOf(inventory, ItemKind::kCopy, ItemState::kInUse));
  text += Row("workspace copies kept", SumOf(inventory, ItemKind::kCopy, ItemState::kKept));
  text += Row("workspace copies left over", SumOf(inventory, ItemKind::kCopy, ItemState::kLeftOver));
  if (inventory.store) {
    text += Row("store", "", RoundedBytes(inventory.store->allocated));
    text += Row("  size", "", RoundedBytes(inventory.store->size));
    text += Row("  used inside", "", RoundedBytes(inventory.store->used));
  }
  text += Row("spool", "", RoundedBytes(inventory.spool));
  text += Row("cgroups in use", std::to_string(SumOf(inventory, ItemKind::kCgroup, ItemState::kInUse).count), "");
  text += Row("cgroups left over", std::to_string(SumOf(inventory, ItemKind::kCgroup, ItemState::kLeftOver).count), "");
  text += Row("uid blocks in use", std::to_string(inventory.uid_blocks.size()), "");
  text += Row("free on this file system", "", RoundedBytes(inventory.disk_free));
  for (const Item& item : inventory.items) {
    if (item.state != ItemState::kLeftOver) continue;
    text += "left over: " + std::string(storage::KindName(item.kind)) + " " + Printable(item.name) + "\n";
  }
  return text;
}

std::string InventoryJson(const storage::Inventory& inventory, const std::string& data_directory) {
  boost::json::object whole;
  whole["data_directory"] = data_directory;
  whole["images"] = Group(inventory, ItemKind::kImage, {ItemState::kInUse, ItemState::kKept, ItemState::kLeftOver});
  whole["layers"] = Group(inventory, ItemKind::kLayer, {ItemState::kInUse, ItemState::kKept, ItemState::kLeftOver});
  whole["copies"] = Group(inventory, ItemKind::kCopy, {ItemState::kInUse, ItemState::kKept, ItemState::kLeftOver});
  whole["cgroups"] = Group(inventory, ItemKind::kCgroup, {ItemState::kInUse, ItemState::kLeftOver});
  whole["store"] = nullptr;
  if (inventory.store) {
    boost::json::object store;
    store["size_bytes"] = inventory.store->size.value;
    store["allocated_bytes"] = inventory.store->allocated.value;
    store["used_bytes"] = inventory.store->used.value;
    whole["store"] = std::move(store);
  }
  whole["spool_bytes"] = inventory.spool.value;
  whole["uid_blocks_in_use"] = inventory.uid_blocks.size();
  whole["disk_size_bytes"] = inventory.disk_size.value;
  whole["disk_free_bytes"] = inventory.disk_free.value;
  boost::json::array items;
  for (const Item& item : inventory.items) {
    boost::json::object entry;
    entry["kind"] = std::string(storage::KindName(item.kind));
    entry["name"] = item.name;
    entry["state"] = std::string(storage::StateName(item.state));
    entry["allocated_bytes"] = item.allocated.value;
    items.push_back(std::move(entry));
  }
  whole["items"] = std::move(items);
  return wire::JsonLine(whole);
}

std::string RemovalText(const storage::Collected& collected, Tense tense) {
  const char* verb = tense == Tense::kDone ? "removed" : "would remove";
  std::string text;
  for (const storage::NotRemoved& kept : collected.kept) {
    text += "left: " + Printable(kept.error.message()) + ": " + Printable(kept.error.cause()) + "\n";
  }
  if (collected.removed.empty()) return text + "nothing to remove\n";
  for (const storage::Removed& removed : collected.removed) {
    text += std::string(verb) + " " + std::string(storage::KindName(removed.kind)) + " " + Printable(removed.name);
    if (removed.freed.value > 0) text += " (" + RoundedBytes(removed.freed) + ")";
    text += "\n";
  }
  text += tense == Tense::kDone ? "freed " : "would free ";
  return text + RoundedBytes({FreedBytes(collected)}) + "\n";
}

std::string RemovalJson(const storage::Collected& collected, Tense tense) {
  boost::json::array removed;
  for (const storage::Removed& item : collected.removed) {
    boost::json::object entry;
    entry["kind"] = std::string(storage::KindName(item.kind));
    entry["name"] = item.name;
    entry["freed_bytes"] = item.freed.value;
    removed.push_back(std::move(entry));
  }
  boost::json::object whole;
  whole["removed"] = boost::json::array();
  whole["would_remove"] = boost::json::array();
  whole[tense == Tense::kDone ? "removed" : "would_remove"] = std::move(removed);
  whole["failed"] = NamesAndReasons(collected.failed);
  whole["kept"] = NamesAndReasons(collected.kept);
  whole[tense == Tense::kDone ? "freed_bytes" : "would_free_bytes"] = FreedBytes(collected);
  return wire::JsonLine(whole);
}

}  // namespace caisson::cli
