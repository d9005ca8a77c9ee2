#pragma once

#include <string>

#include "caisson/storage/collection.h"
#include "caisson/storage/inventory.h"

namespace caisson::cli {

// What `df`, `prune` and `purge` print. Names come from folders that sandboxes can reach: they are escaped.

// "4.0KiB", "1.5GiB": for people, rounded.
std::string RoundedBytes(Bytes bytes);

std::string InventoryTable(const storage::Inventory& inventory, const std::string& data_directory);
std::string InventoryJson(const storage::Inventory& inventory, const std::string& data_directory);

enum class Tense { kDone, kWouldBe };

// One line an item, and the sum. `failed` is not in the text: each of these is an error of its own.
std::string RemovalText(const storage::Collected& collected, Tense tense);
std::string RemovalJson(const storage::Collected& collected, Tense tense);

}  // namespace caisson::cli
