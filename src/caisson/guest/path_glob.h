#pragma once

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace caisson::guest {

// A pattern for paths, which are bytes: `*` is any part of a name, `?` one character, `**` any number of folders
// (`**/x`, `a/**`, `a/**/x`). One without a slash is for the last name of a path, another one for all of it. Matching
// takes time linear in the path.
class PathGlob {
 public:
  // An empty one matches everything.
  explicit PathGlob(std::string_view glob);
  ~PathGlob();
  PathGlob(const PathGlob&) = delete;
  PathGlob& operator=(const PathGlob&) = delete;

  // False: it is too large.
  bool is_valid() const;
  bool Matches(std::string_view path) const;

 private:
  bool of_names_ = false;
  std::unique_ptr<re2::RE2> pattern_;  // absent: everything matches
};

}  // namespace caisson::guest
