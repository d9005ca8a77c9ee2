#include "caisson/audit/record_reader.h"

#include <variant>

#include "caisson/audit/audit_folder.h"
#include "caisson/record/fault.h"
#include "caisson/record/time_text.h"

namespace caisson::audit {

Result<RecordReader> RecordReader::Open(const os::Fd& data_folder, const SandboxId& sandbox, RecordFilter filter) {
  std::string since = filter.since ? record::TimeText(*filter.since) : "";
  RecordReader reader(std::move(filter), std::move(since));
  CAISSON_TRY(const os::Fd folder, OpenAuditFolder(data_folder));
  CAISSON_TRY(const std::vector<std::string> names, FilesOf(folder, sandbox));
  for (const std::string& name : names) {
    CAISSON_TRY(os::Fd file, OpenToRead(folder, name));
    reader.files_.push_back({.name = name, .reader = LineReader(std::move(file))});
  }
  return reader;
}

bool RecordReader::Passes(const record::Line& line) const {
  // The texts of times are ordered as the times are.
  return (!filter_.since_seq || line.head.seq >= *filter_.since_seq) && line.ts >= since_ &&
         (!filter_.tool || line.tool == *filter_.tool) && (!filter_.outcome || line.outcome == *filter_.outcome);
}

Result<std::optional<std::string>> RecordReader::Next() {
  for (; current_ < files_.size(); ++current_) {
    File& file = files_[current_];
    while (true) {
      CAISSON_TRY(const LineReader::What what, file.reader.Next());
      if (what == LineReader::What::kEnd || what == LineReader::What::kTorn) break;
      const auto read = what == LineReader::What::kTooLong
                            ? std::variant<record::Line, record::Fault>(record::Fault::kTooLong)
                            : record::ReadLine(file.reader.text());
      if (const auto* fault = std::get_if<record::Fault>(&read)) {
        return Fail(Error(Code::kInternal, "line " + std::to_string(file.reader.number()) + " of the audit file '" +
                                               file.name + "' is no record")
                        .Because(std::string(record::FaultName(*fault)))
                        .Remedy("verify the audit record"));
      }
      if (Passes(std::get<record::Line>(read))) return std::optional<std::string>(file.reader.text());
    }
  }
  return std::optional<std::string>();
}

}  // namespace caisson::audit
