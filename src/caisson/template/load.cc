#include "caisson/template/load.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "caisson/base/utf8.h"
#include "caisson/document/document.h"
#include "caisson/os/fd.h"
#include "caisson/template/profile.h"
#include "caisson/template/read.h"

namespace caisson::templates {
namespace {

// What an O_PATH descriptor stands for, opened when it is a regular file: until then nothing has been opened at all.
Result<std::string> ReadRegular(const os::Fd& found, const std::string& name) {
  struct stat state{};
  if (fstat(found.get(), &state) != 0) return Fail(Error::FromErrno(errno, "cannot examine " + name));
  if (!S_ISREG(state.st_mode)) {
    return Fail(Error(Code::kInvalidArgument, "cannot read " + name)
                    .Because(S_ISLNK(state.st_mode) ? "it is a symbolic link" : "it is no regular file")
                    .Remedy("name a regular file"));
  }
  const std::string self = "/proc/self/fd/" + std::to_string(found.get());
  const os::Fd file(open(self.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return Fail(Error::FromErrno(errno, "cannot open " + name));
  auto text = os::ReadAll(file.get(), document::kMostBytes);
  if (!text) return Fail(std::move(text).error().Context("reading " + name));
  return text;
}

Result<os::Fd> Below(const os::Fd& folder, const std::string& path, const std::string& name) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  os::Fd found(static_cast<int>(syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how)));
  if (found.valid()) return found;
  if (errno == ELOOP) {
    return Fail(Error(Code::kInvalidArgument, "cannot open " + name)
                    .Because("it is reached through a symbolic link")
                    .Remedy("name a regular file below the folder of the template"));
  }
  return Fail(Error::FromErrno(errno, "cannot open " + name));
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<LoadedText> LoadText(const std::string& path) {
  const std::string name = Quoted(path);
  const os::Fd found(open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  if (!found.valid()) return Fail(Error::FromErrno(errno, "cannot open " + name));
  CAISSON_TRY(std::string text, ReadRegular(found, name));
  return LoadedText{.text = std::move(text), .folder = FolderOf(path)};
}

Result<std::string> LoadPolicyText(const std::string& folder, const Given<std::string>& policy) {
  const std::string name = "the policy " + Quoted(policy.value);
  const os::Fd opened(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder " + Quoted(folder)));
  const auto read = [&]() -> Result<std::string> {
    CAISSON_CHECK_OK(CheckPolicyPath(policy.value));
    CAISSON_TRY(const os::Fd found, Below(opened, policy.value, name));
    return ReadRegular(found, name);
  };
  auto text = read();
  if (!text) return Fail(std::move(text).error().Context(policy.source));
  return text;
}

Result<Loaded> Load(const std::string& path) {
  CAISSON_TRY(LoadedText file, LoadText(path));
  CAISSON_TRY(Template content, Read(file.text, path));
  Loaded loaded{.content = std::move(content), .folder = std::move(file.folder), .policy_text = std::nullopt};
  const Maybe<std::string>& policy = loaded.content.policy;
  if (policy && !IsPolicyPreset(policy->value)) {
    CAISSON_TRY(loaded.policy_text, LoadPolicyText(loaded.folder, *policy));
  }
  return loaded;
}

}  // namespace caisson::templates
