#include "caisson/audit/tail.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <variant>

#include "caisson/record/limits.h"
#include "caisson/record/line.h"

namespace caisson::audit {
namespace {

// A torn line behind a whole one, each as long as any.
constexpr std::uint64_t kWindow = 2 * (record::kLongestLine + 1);

Error Damaged() {
  return Error(Code::kInternal, "an audit file cannot be continued")
      .Because("its last line is not a record of this sandbox, or was changed")
      .Remedy("keep the file as it is, find out who changed it, and move it out of the audit folder");
}

Result<std::string> ReadAt(const os::Fd& file, std::uint64_t offset, std::uint64_t size) {
  std::string data(size, '\0');
  std::size_t done = 0;
  while (done < data.size()) {
    const ssize_t count = pread(file.get(), data.data() + done, data.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(Error::FromErrno(errno, "cannot read the end of an audit file"));
    if (count == 0) return Fail(Error(Code::kConflict, "an audit file became shorter while it was read"));
    done += static_cast<std::size_t>(count);
  }
  return data;
}

}  // namespace

Result<Tail> ReadTail(const os::Fd& file, const SandboxId& sandbox) {
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot look at an audit file"));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const std::uint64_t window = std::min(size, kWindow);
  CAISSON_TRY(const std::string data, ReadAt(file, size - window, window));
  std::string_view text = data;
  const std::size_t end = text.rfind('\n');
  if (end == std::string_view::npos) {
    if (window < size) return Fail(Damaged());
    return Tail{.last = {}, .whole_size = 0, .torn_size = size};
  }
  Tail tail{.last = {}, .whole_size = size - (window - end - 1), .torn_size = window - end - 1};
  text = text.substr(0, end);
  const std::size_t before = text.rfind('\n');
  if (before == std::string_view::npos && window < size) return Fail(Damaged());
  const std::string_view last = before == std::string_view::npos ? text : text.substr(before + 1);
  const auto read = record::ReadLine(last);
  const auto* line = std::get_if<record::Line>(&read);
  if (line == nullptr || line->sandbox != sandbox.text() || !record::IsUnchanged(*line, last)) return Fail(Damaged());
  tail.last = line->head;
  return tail;
}

}  // namespace caisson::audit
