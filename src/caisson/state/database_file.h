#pragma once

#include <string>
#include <string_view>

#include "caisson/base/result.h"
#include "caisson/os/fd.h"

namespace caisson::state {

inline constexpr const char* kDatabaseName = "caisson.db";
inline constexpr const char* kLogName = "caisson.db-wal";  // what was committed and is not in the file yet

// Whether `begin`, the first 32 bytes of a write-ahead log, is a header that SQLite wrote: magic, version and checksum.
// Source: "The Database File Format", section 4.1, sqlite.org/fileformat2.html.
bool IsLogHeader(std::string_view begin);

// Makes sure that there is a database file that only its owner may read, and refuses what SQLite would quietly pass
// over or remove: a log without its database, and a log that holds something and is none. Follows no links. Errors:
// kInternal for damage, naming the file and the remedy; those of making a file. Nothing is removed.
Status PrepareDatabaseFile(const os::Fd& folder);

// What to say of a file that is damaged: kInternal, with the remedy.
Error DamagedFile(const std::string& path, std::string cause);

}  // namespace caisson::state
