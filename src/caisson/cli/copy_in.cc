#include "caisson/cli/copy_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "caisson/base/utf8.h"
#include "caisson/client/commands.h"
#include "caisson/client/files.h"
#include "caisson/client/follow.h"

namespace caisson::cli {
namespace {

constexpr int kDeepest = 256;

Result<std::vector<std::string>> NamesIn(const os::Fd& folder, const std::string& shown) {
  CAISSON_TRY(os::Fd copy, folder.Duplicate());
  const auto close = [](DIR* stream) { (void)closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(fdopendir(copy.get()), close);
  if (stream == nullptr) return Fail(Error::FromErrno(errno, "cannot read the folder " + Quoted(shown)));
  (void)copy.Release();  // the stream's now
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return Fail(Error::FromErrno(errno, "cannot read the folder " + Quoted(shown)));
  std::sort(names.begin(), names.end());
  return names;
}

// Fills `piece` from where the file stands, as far as it goes.
Status ReadPiece(const os::Fd& file, const std::string& shown, std::string& piece) {
  piece.resize(client::kLargestTransfer.value);
  std::size_t filled = 0;
  while (filled < piece.size()) {
    const ssize_t length = read(file.get(), piece.data() + filled, piece.size() - filled);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return Fail(Error::FromErrno(errno, "cannot read " + Quoted(shown)));
    if (length == 0) break;
    filled += static_cast<std::size_t>(length);
  }
  piece.resize(filled);
  return {};
}

bool IsRemoteFolder(client::Http& http, const CopyRequest& request) {
  return client::ListFolder(http, request.sandbox, request.remote).has_value();
}

}  // namespace

Status CopyIn::Run() {
  // What the caller names is followed, as for every program.
  const os::Fd source(open(request_.local.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!source.valid() || fstat(source.get(), &info) != 0) {
    return Fail(Error::FromErrno(errno, "cannot open " + Quoted(request_.local)));
  }
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return Fail(Error(Code::kInvalidArgument, Quoted(request_.local) + " is neither a file nor a folder")
                    .Because("only those are copied")
                    .Remedy("copy its content through `caisson exec ID -- sh -c 'cat > PATH'`"));
  }
  CAISSON_TRY(const std::string remote, Target(LastPart(request_.local)));
  if (S_ISDIR(info.st_mode)) {
    CAISSON_CHECK_OK(Folder(source, request_.local, remote, 0));
  } else {
    CAISSON_CHECK_OK(File(source, request_.local, remote));
  }
  return SetModes();
}

Result<std::string> CopyIn::Target(const std::string& name) {
  const bool is_in_folder = request_.target == CopyRequest::Target::kInFolder || IsRemoteFolder(http_, request_);
  if (!is_in_folder || name.empty()) return request_.remote;
  if (!IsUtf8(name)) return Fail(Error(Code::kInvalidArgument, "the name " + Quoted(name) + " is not UTF-8"));
  return Below(request_.remote, name);
}

Status CopyIn::File(const os::Fd& file, const std::string& shown, const std::string& remote) {
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot read " + Quoted(shown)));
  std::uint64_t copied = 0;
  client::IfExists if_exists = client::IfExists::kOverwrite;
  do {
    CAISSON_CHECK_OK(ReadPiece(file, shown, piece_));
    if (piece_.empty() && copied > 0) break;
    if (Status wrote = client::WriteFile(http_, request_.sandbox, remote, piece_, if_exists); !wrote) {
      return Fail(std::move(wrote).error().Context("writing " + Quoted(remote)));
    }
    copied += piece_.size();
    if_exists = client::IfExists::kAppend;
  } while (piece_.size() == client::kLargestTransfer.value);
  report_.Copied(copied);
  if ((info.st_mode & 0111U) != 0) executables_.push_back(remote);
  return {};
}

Status CopyIn::Folder(const os::Fd& folder, const std::string& shown, const std::string& remote, int depth) {
  if (depth > kDeepest) {
    report_.LeftOut(shown, "folders are nested too deep");
    return {};
  }
  CAISSON_TRY(const std::vector<std::string> names, NamesIn(folder, shown));
  if (names.empty()) bare_folders_.push_back(remote);
  for (const std::string& name : names) {
    const Status done = Entry(folder, name, Below(shown, name), Below(remote, name), depth);
    if (!done && !report_.Passes(done.error())) return done;
  }
  return {};
}

Status CopyIn::Entry(const os::Fd& folder, const std::string& name, const std::string& shown, const std::string& remote,
                     int depth) {
  if (!IsUtf8(name)) {
    report_.LeftOut(shown, "its name is not UTF-8");
    return {};
  }
  struct stat info{};
  if (fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return Fail(Error::FromErrno(errno, "cannot open " + Quoted(shown)));
  }
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    report_.LeftOut(shown, S_ISLNK(info.st_mode) ? "a symbolic link" : "no file and no folder");
    return {};
  }
  const int only = S_ISDIR(info.st_mode) ? O_DIRECTORY : 0;
  const os::Fd entry(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | only));
  if (!entry.valid()) return Fail(Error::FromErrno(errno, "cannot open " + Quoted(shown)));
  if (S_ISDIR(info.st_mode)) return Folder(entry, shown, remote, depth + 1);
  // It may have become something else meanwhile.
  if (fstat(entry.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    report_.LeftOut(shown, "it is no file any more");
    return {};
  }
  return File(entry, shown, remote);
}

Status CopyIn::SetModes() {
  CAISSON_CHECK_OK(RunOnAll({"mkdir", "-p", "--"}, bare_folders_, "an empty folder cannot be made there"));
  return RunOnAll({"chmod", "a+x", "--"}, executables_, "it could not be made executable");
}

Status CopyIn::RunOnAll(const std::vector<std::string>& words, const std::vector<std::string>& paths,
                        const char* what) {
  constexpr std::size_t kMostBytes = 100'000;
  const client::OutputSink nowhere{[](client::Stream, std::string_view) -> Status { return {}; },
                                   [](client::Stream, std::uint64_t) {}};
  for (std::size_t next = 0; next < paths.size();) {
    client::StartRequest start;
    start.argv = words;
    start.cwd = "/";
    const std::size_t first = next;
    for (std::size_t bytes = 0; next < paths.size() && bytes < kMostBytes; ++next) {
      start.argv.push_back(paths[next]);
      bytes += paths[next].size() + 1;
    }
    CAISSON_TRY(const client::CommandView command, client::StartCommand(http_, request_.sandbox, start));
    CAISSON_TRY(const client::Followed done,
                client::FollowOutput(http_.endpoint(), request_.sandbox, command.id, {}, nowhere));
    if (done.result && done.result->outcome == "exited" && done.result->exit_code == 0) continue;
    for (std::size_t i = first; i < next; ++i) report_.LeftOut(paths[i], what);
  }
  return {};
}

}  // namespace caisson::cli
