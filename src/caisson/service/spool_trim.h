#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>

#include "caisson/base/units.h"
#include "caisson/state/database.h"

namespace caisson::service {

// Removes the output of commands that nobody needs any more. Reads no result, and does a bounded part of the work each
// time. Not thread-safe; `directory` and the database outlive it.
class SpoolTrim {
 public:
  SpoolTrim(int directory, state::Database& database) : directory_(directory), database_(database) {}

  enum class Done : std::uint8_t { kNo, kYes };
  // Looks at some of the files, each time at those after the last ones, and removes those of commands that are
  // forgotten. Then removes, of commands that have ended, the output of those which ended first, until all of it takes
  // no more than `most`. kNo: it does not yet.
  Done Trim(Bytes most);

  // Of one call.
  static constexpr std::uint32_t kMostFiles = 2000;
  static constexpr std::uint32_t kMostRemoved = 500;

 private:
  struct Close {
    void operator()(DIR* listing) const { closedir(listing); }
  };
  void RemoveForgotten();

  int directory_;
  state::Database& database_;
  std::unique_ptr<DIR, Close> listing_;  // stands where the last call ended
};

}  // namespace caisson::service
