#include "caisson/audit/audit_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "caisson/os/folder_lock.h"

namespace caisson::audit {
namespace {

constexpr std::string_view kEnd = ".jsonl";

// The number in "<sandbox>.<number>.jsonl", as FullName writes it.
std::optional<std::uint64_t> NumberIn(std::string_view name, const SandboxId& sandbox) {
  const std::string before = sandbox.text() + ".";
  if (!name.starts_with(before) || !name.ends_with(kEnd) || name.size() <= before.size() + kEnd.size()) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(before.size(), name.size() - before.size() - kEnd.size());
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed != std::errc() || FullName(sandbox, number) != name) return std::nullopt;
  return number;
}

}  // namespace

Result<os::Fd> OpenAuditFolder(const os::Fd& data_folder) {
  os::Fd folder(openat(data_folder.get(), "audit", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder 'audit' of the data folder"));
  return folder;
}

Result<os::Fd> MakeAuditFolder(const os::Fd& data_folder) {
  if (mkdirat(data_folder.get(), "audit", 0700) != 0 && errno != EEXIST) {
    return Fail(Error::FromErrno(errno, "cannot make the folder 'audit' in the data folder"));
  }
  return OpenAuditFolder(data_folder);
}

std::string CurrentName(const SandboxId& sandbox) { return sandbox.text() + std::string(kEnd); }

std::string FullName(const SandboxId& sandbox, std::uint64_t number) {
  return sandbox.text() + "." + std::to_string(number) + std::string(kEnd);
}

Result<std::vector<std::uint64_t>> FullFiles(const os::Fd& audit_folder, const SandboxId& sandbox) {
  CAISSON_TRY(const std::vector<std::string> names, os::ReadNames(audit_folder));
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (const auto number = NumberIn(name, sandbox)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<std::vector<std::string>> FilesOf(const os::Fd& audit_folder, const SandboxId& sandbox) {
  CAISSON_TRY(const std::vector<std::uint64_t> numbers, FullFiles(audit_folder, sandbox));
  std::vector<std::string> names;
  for (const std::uint64_t number : numbers) names.push_back(FullName(sandbox, number));
  struct stat info{};
  if (fstatat(audit_folder.get(), CurrentName(sandbox).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    names.push_back(CurrentName(sandbox));
  } else if (errno != ENOENT) {
    return Fail(Error::FromErrno(errno, "cannot look for an audit file"));
  }
  return names;
}

Result<os::Fd> OpenToRead(const os::Fd& audit_folder, const std::string& name) {
  os::Fd file(openat(audit_folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open the audit file '" + name + "'"));
  struct stat info{};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Error(Code::kInvalidArgument, "the audit file '" + name + "' is no regular file"));
  }
  return file;
}

}  // namespace caisson::audit
