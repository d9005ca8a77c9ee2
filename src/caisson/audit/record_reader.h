#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caisson/audit/line_reader.h"
#include "caisson/base/id.h"
#include "caisson/base/result.h"
#include "caisson/os/fd.h"
#include "caisson/record/entry.h"
#include "caisson/record/line.h"

namespace caisson::audit {

// Which records; what is not given lets all pass.
struct RecordFilter {
  std::optional<std::uint64_t> since_seq;  // this one and later
  std::optional<record::Time> since;
  std::optional<std::string> tool;
  std::optional<std::string> outcome;
};

// Reads the records of a sandbox from all its files, oldest first, in bounded memory. It does not verify the chain. Not
// for concurrent use.
class RecordReader {
 public:
  // Errors: kNotFound without an audit folder, and those of the system calls. No files: no records.
  static Result<RecordReader> Open(const os::Fd& data_folder, const SandboxId& sandbox, RecordFilter filter);

  // The next record as its line of JSON, without the newline; nothing at the end. A torn last line is passed over: its
  // record was never reported. Errors: kInternal for a line that is no record or too long, which names it; the next
  // call goes on behind it.
  Result<std::optional<std::string>> Next();

 private:
  RecordReader(RecordFilter filter, std::string since) : filter_(std::move(filter)), since_(std::move(since)) {}
  bool Passes(const record::Line& line) const;

  struct File {
    std::string name;
    LineReader reader;
  };
  RecordFilter filter_;
  std::string since_;
  std::vector<File> files_;
  std::size_t current_ = 0;
};

}  // namespace caisson::audit
