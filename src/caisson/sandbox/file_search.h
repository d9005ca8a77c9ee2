#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace caisson::sandbox {

// A search in the contents of files: Files::Search.
struct FileSearch {
  std::string path = ".";  // a folder, or one file; may be a link
  // RE2, at most 4096 bytes: https://github.com/google/re2/wiki/Syntax. `^` and `$` are the ends of a line, and no
  // match reaches over one.
  std::string pattern;
  // Only files that it matches, at most 4096 bytes: `*` any part of a name, `?` one character, `**` any number of
  // folders. Without a slash it is for names, with one for paths from the folder. Empty: all.
  std::string glob = {};
  std::uint32_t limit = 1000;  // of matches, 1 to 1,000
  enum class LetterCase { kMatters, kIgnored } letters = LetterCase::kMatters;
};

struct FileMatch {
  std::string path;          // from the searched folder; of a file its name
  std::uint64_t line = 0;    // from 1
  std::uint64_t column = 0;  // from 1, in bytes, of the first match in the line
  std::string text;          // the line without its end; at most 500 bytes of it, and no character cut apart
};

struct FileMatches {
  std::vector<FileMatch> matches;  // one for each line that matches
  bool truncated = false;          // the search ended before all was searched: there may be more
  std::uint64_t files_searched = 0;
  std::uint64_t files_skipped = 0;  // binary, larger than 64 MiB, unreadable; unreadable folders too
};

}  // namespace caisson::sandbox
