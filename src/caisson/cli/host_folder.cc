#include "caisson/cli/host_folder.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <memory>

#include "caisson/base/deadline.h"
#include "caisson/base/utf8.h"
#include "caisson/cli/error_output.h"
#include "caisson/cli/host_report.h"

namespace caisson::cli {

Result<os::Fd> OpenFolder(const std::string& path, const char* what) {
  os::Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) return folder;
  return Fail(Error::FromErrno(errno, std::string("cannot open the ") + what + " " + Quoted(path)));
}

std::function<bool(const storage::CopyProgress&)> CopyNotices() {
  const auto next = std::make_shared<Deadline>(Deadline::In(std::chrono::seconds(2)));
  return [next](const storage::CopyProgress& progress) {
    if (!next->Passed()) return true;
    *next = Deadline::In(std::chrono::seconds(2));
    PrintNotice("copying the workspace: " + std::to_string(progress.entries) + " entries, " +
                RoundedBytes(progress.bytes));
    return true;
  };
}

}  // namespace caisson::cli
