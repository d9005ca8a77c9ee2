#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"

namespace caisson::storage {

// How the name of a copy that is not whole begins. What a killed process left has such a name, and nothing else has.
inline constexpr char kUnfinishedCopyPrefix[] = ".copying.";

struct CopyOptions {
  // What the copy may hold: data without holes, and extended attributes. What is shared counts like what is written.
  Bytes max_bytes = GiB(100);
  // Names below the source, also those that are left out.
  std::uint64_t max_entries = 10'000'000;
  // Files with several names that are recognized at their second name. Each costs a name on the target's disk while
  // the copy is made, and no memory.
  std::uint64_t max_linked_files = 1'000'000;
  // Between two calls of the progress function.
  std::chrono::milliseconds progress_interval{100};
};

struct CopyProgress {
  std::uint64_t entries = 0;
  Bytes bytes;  // what max_bytes counts
};

// What a copy has and what it has not.
struct CopySummary {
  std::uint64_t folders = 0;  // without the top one
  std::uint64_t files = 0;
  std::uint64_t shared_files = 0;    // of `files`: by reflink
  std::uint64_t symbolic_links = 0;  // of any target, which nobody has looked at
  std::uint64_t fifos = 0;
  std::uint64_t hard_links = 0;  // further names of what was copied already
  Bytes bytes;                   // what max_bytes counts

  std::uint64_t separated_links = 0;        // files of several names, copied for this one alone
  std::uint64_t dropped_set_id = 0;         // entries without their setuid or setgid bit
  std::uint64_t left_out_attributes = 0;    // user.* the target does not take, or more than fits; access lists
  std::uint64_t mounts = 0;                 // mount points: folders stay empty, files are left out
  std::uint64_t changed = 0;                // left out: gone, moved or replaced before it was read
  std::uint64_t left_out = 0;               // devices and sockets
  std::vector<std::string> left_out_paths;  // the first of these, relative to the source; names are bytes
};

// Copies the folder `source` to the new folder `name` below `target_parent`, where nobody else may write. It appears
// under its name when it is whole; after an error or a cancel nothing is left.
//
// Kept: type, permission bits, numeric owner and group, time of modification, holes, links of both kinds, user.*
// attributes. Not kept: setuid and setgid bits, access lists, capabilities, other attributes and times. Data is shared
// where the file system can (FICLONE). Not synced to the disk.
//
// The source may be hostile and may change meanwhile: no symbolic link is followed, no mount entered, nothing that
// blocks is opened; a file that grows is copied to the size it had. What a caller sees is then some state of each file,
// not one state of the whole. At a mount point stands an empty folder of its parent's owner. Folders deeper than 4,096
// are an error. Memory is bounded whatever the source holds.
//
// `progress` may be empty; else it is called about every `progress_interval` and at the end, and cancels by returning
// false. The thread that calls does all the work. Needs CAP_CHOWN, CAP_FOWNER and CAP_DAC_OVERRIDE. Kernel: openat2(2),
// Linux 5.6.
//
// Errors: kInvalidArgument (the name, or the source holds the target), kAlreadyExists, kResourceExhausted (a limit,
// which the message names, or the errno of a full disk), kConflict (cancelled, or a folder was moved while it was
// read).
Result<CopySummary> CopyFolder(const os::Fd& source, const os::Fd& target_parent, const std::string& name,
                               const CopyOptions& options, const std::function<bool(const CopyProgress&)>& progress);

}  // namespace caisson::storage
