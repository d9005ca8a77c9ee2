#include "edit.h"

namespace caisson::demo {

Result<std::string> Apply(const Edit& edit, sandbox::Files files, Report& report) {
  CAISSON_TRY(sandbox::FileContent file, files.Read(edit.path));
  const std::size_t at = file.bytes.find(edit.before);
  if (at == std::string::npos || file.bytes.find(edit.before, at + 1) != std::string::npos) {
    return Fail(Error(Code::kConflict, edit.path + " does not hold the line to edit exactly once"));
  }
  file.bytes.replace(at, edit.before.size(), edit.after);
  CAISSON_CHECK_OK(files.Write(edit.path, file.bytes));
  report.Line(edit.path);
  report.Removed(edit.before);
  report.Added(edit.after);
  return std::move(file.bytes);
}

}  // namespace caisson::demo
