#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace caisson::cli {

// Rows under a head, each column as wide as its widest cell, two spaces between; the last is not padded. What cells
// hold is made safe for a terminal (Printable). A row that is shorter than the head ends with empty cells.
std::string TextTable(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

// "2027-01-31T09:30:00.125Z" as "2027-01-31 10:30:00" in the time of this host; a text that is no such time as it is.
std::string LocalTime(std::string_view time);

}  // namespace caisson::cli
