#pragma once

#include <cstdint>
#include <span>

#include "caisson/base/result.h"
#include "caisson/state/connection.h"

namespace caisson::state {

// One step from a version of the tables to the next. The version that it leads to is its place in the list, from 1.
// A step that was released is never changed.
struct Migration {
  const char* sql;
};

// Every step there is. Source of what the tables hold: the text of the steps.
std::span<const Migration> AllMigrations();

// The version of the tables in the file; 0: it is new. Errors: kUnsupported when it is newer than `steps` lead to, or
// the file is another program's.
Result<std::size_t> VersionOf(Connection& connection, std::span<const Migration> steps);

// Takes the tables from their version to the newest, each step a transaction of its own: after a failure, or the end of
// the process, they have the version of the last whole step.
Status Migrate(Connection& connection, std::span<const Migration> steps);

}  // namespace caisson::state
