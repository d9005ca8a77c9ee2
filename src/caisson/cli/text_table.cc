#include "caisson/cli/text_table.h"

#include <time.h>

#include <algorithm>
#include <array>

#include "caisson/base/utf8.h"

namespace caisson::cli {
namespace {

// Characters, of well-formed UTF-8: as near to columns as this comes.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string TextTable(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> lines = {head};
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(Printable(cell));
    line.resize(head.size());
  }
  std::vector<std::size_t> widths(head.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], WidthOf(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string shown;
    for (std::size_t i = 0; i < line.size(); ++i) {
      shown += line[i];
      if (i + 1 < line.size()) shown.append(widths[i] - WidthOf(line[i]) + 2, ' ');
    }
    shown.erase(shown.find_last_not_of(' ') + 1);
    text += shown + "\n";
  }
  return text;
}

std::string LocalTime(std::string_view time) {
  std::string text(time);
  tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || !text.ends_with('Z')) return text;
  const time_t seconds = timegm(&parts);
  tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return text;
  std::array<char, 64> shown{};
  const std::size_t length = strftime(shown.data(), shown.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {shown.data(), length};
}

}  // namespace caisson::cli
