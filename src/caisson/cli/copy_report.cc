#include "caisson/cli/copy_report.h"

#include "caisson/base/utf8.h"
#include "caisson/cli/commands.h"
#include "caisson/cli/host_report.h"

namespace caisson::cli {

void CopyReport::Name(std::string line) {
  if (named_.size() < kMostNamed) named_.push_back(std::move(line));
}

void CopyReport::LeftOut(std::string_view path, std::string_view why) {
  ++left_out_;
  Name("left out " + Quoted(path) + ": " + std::string(why));
}

bool CopyReport::Passes(const Error& error) {
  switch (error.code()) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kPermissionDenied:
    case Code::kAlreadyExists:
      break;
    default:
      return false;
  }
  ++failed_;
  Name("not copied: " + error.message() + (error.cause().empty() ? "" : ": " + error.cause()));
  return true;
}

std::vector<std::string> CopyReport::Lines() const {
  std::vector<std::string> lines = {"copied " + std::to_string(files_) + (files_ == 1 ? " file, " : " files, ") +
                                    RoundedBytes({bytes_})};
  lines.insert(lines.end(), named_.begin(), named_.end());
  const std::uint64_t unnamed = left_out_ + failed_ - named_.size();
  if (unnamed > 0) lines.push_back("and " + std::to_string(unnamed) + " more were not copied");
  return lines;
}

int CopyReport::Status() const {
  if (failed_ > 0) return kFailed;
  return left_out_ > 0 ? kNegativeAnswer : kSuccess;
}

}  // namespace caisson::cli
