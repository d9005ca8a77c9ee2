#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/base/units.h"
#include "caisson/os/fd.h"
#include "caisson/record/chain.h"
#include "caisson/record/entry.h"
#include "caisson/record/redactor.h"

namespace caisson::audit {

struct AuditOptions {
  enum class Sync {
    kNever,       // a record outlives the process, and its kill, but maybe not the machine's loss of power
    kEachRecord,  // fdatasync(2) before an append returns
  };
  Bytes rotate_at = MiB(64);  // a file that would grow beyond is full
  std::size_t keep = 16;      // full files of a sandbox
  Sync sync = Sync::kNever;
};

// The audit record of one sandbox: appends to `audit/<sandbox>.jsonl` of a data folder. Holds a lock on the file, so
// that there is one writer on the host. Safe for concurrent use.
//
// What was not recorded is recorded as a gap, `detail` says why: "torn_line" after a kill in the middle of a write,
// "records_missed" after appends that failed, "files_dropped" when files beyond `keep` are removed.
class AuditFile {
 public:
  // Opens or makes the file (mode 0600) and goes on behind its last whole line; a torn one behind that is cut off.
  // `now`: the time of a gap. Errors: kConflict when another writes it, kInternal when its last line is no record of
  // this chain, and those of the system calls.
  static Result<std::unique_ptr<AuditFile>> Open(const os::Fd& data_folder, const SandboxId& sandbox, record::Time now,
                                                 const AuditOptions& options = {});

  // The record is in the file, whole, when this returns its head. After an error it is not, apart from an error of
  // fdatasync(2), of which nothing is known; the next append records the gap. Errors: kResourceExhausted when there is
  // no room, kConflict when somebody else changed or removed the file.
  Result<record::Head> Append(const record::Entry& entry, const record::Redactor& redactor);

  record::Head head() const;

 private:
  AuditFile(os::Fd folder, SandboxId sandbox, const AuditOptions& options);

  Status Continue(record::Time now);
  Status OpenCurrent(int flags);
  Status AppendGap(record::Time now, std::string detail);
  Status AppendBody(record::Time time, std::string_view body);
  Status AppendAfterGap(record::Time time, std::string_view body);
  Status CheckFile() const;
  Status Write(std::string_view line);
  Status Rotate();
  Status DropOld(record::Time now);

  const os::Fd folder_;
  const SandboxId sandbox_;
  const AuditOptions options_;
  mutable std::mutex mutex_;  // guards all below
  os::Fd file_;
  std::uint64_t size_ = 0;  // of the whole lines
  record::Head head_;
  std::uint64_t missed_ = 0;  // records since the last that was written
  std::string missed_why_;
};

}  // namespace caisson::audit
