#include "caisson/sandbox/search_reply.h"

#include <algorithm>
#include <string>

#include "caisson/base/path_text.h"

namespace caisson::sandbox {
namespace {

constexpr std::size_t kMostPathBytes = 4095;
constexpr std::size_t kMostTextBytes = 500;
constexpr std::uint64_t kMostFiles = 1'000'000;

bool IsPossible(const proto::Match& match) {
  return match.path().size() <= kMostPathBytes && !match.path().empty() && IsNormalPath("/" + match.path()) &&
         match.line() > 0 && match.column() > 0 && match.text().size() <= kMostTextBytes &&
         match.text().find('\n') == std::string::npos;
}

}  // namespace

Result<FileMatches> MatchesOf(const proto::FileReply& reply, std::uint32_t limit) {
  const auto& found = reply.matches();
  if (static_cast<std::uint64_t>(found.size()) > limit || reply.files_searched() > kMostFiles ||
      reply.files_skipped() > kMostFiles || !std::all_of(found.begin(), found.end(), IsPossible)) {
    return Fail(Error(Code::kUnavailable, "the file operation gave no matches of a search"));
  }
  FileMatches matches{.matches = {},
                      .truncated = reply.truncated(),
                      .files_searched = reply.files_searched(),
                      .files_skipped = reply.files_skipped()};
  matches.matches.reserve(static_cast<std::size_t>(found.size()));
  for (const proto::Match& match : found) {
    matches.matches.push_back(
        {.path = match.path(), .line = match.line(), .column = match.column(), .text = match.text()});
  }
  return matches;
}

}  // namespace caisson::sandbox
