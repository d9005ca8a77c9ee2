#include "caisson/service/text_edit.h"

#include <algorithm>
#include <vector>

namespace caisson::service {
namespace {

constexpr std::size_t kMostNamedLines = 5;

std::uint64_t LineAt(std::string_view text, std::size_t offset) {
  return 1 +
         static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

Error FoundElsewhere(const std::vector<std::size_t>& found, std::string_view text, std::uint32_t count) {
  if (found.empty()) {
    return Error(Code::kNotFound, "the old text is not in the file")
        .Because("it has to be there letter by letter, with its spaces and ends of lines")
        .Remedy("read the file, and copy the text from there");
  }
  std::string lines;
  for (std::size_t i = 0; i < std::min(found.size(), kMostNamedLines); ++i) {
    lines += (lines.empty() ? "" : ", ") + std::to_string(LineAt(text, found[i]));
  }
  if (found.size() > kMostNamedLines) lines += ", ...";
  return Error(Code::kConflict,
               "the old text is in the file " + std::to_string(found.size()) + " times, not " + std::to_string(count))
      .Because("it begins in the lines " + lines)
      .Remedy("give more of the text around it, or count " + std::to_string(found.size()) + " to replace all")
      .Detail("lines", lines);
}

}  // namespace

Result<EditedText> Replaced(std::string_view text, std::string_view old_text, std::string_view new_text,
                            std::uint32_t count) {
  std::vector<std::size_t> found;
  for (std::size_t at = text.find(old_text); at != std::string_view::npos;
       at = text.find(old_text, at + old_text.size())) {
    found.push_back(at);
  }
  if (found.size() != count) return Fail(FoundElsewhere(found, text, count));
  if (text.size() + found.size() * new_text.size() > kMostEdited.value + found.size() * old_text.size()) {
    return Fail(Error(Code::kInvalidArgument, "the file would be larger than 16 MiB").Remedy("change less at once"));
  }
  EditedText edited{.text = {}, .line = LineAt(text, found.front())};
  std::size_t from = 0;
  for (const std::size_t at : found) {
    edited.text.append(text, from, at - from).append(new_text);
    from = at + old_text.size();
  }
  edited.text.append(text, from);
  return edited;
}

}  // namespace caisson::service
