#include "caisson/guest/file_operation.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string>

#include "caisson/guest/failed_reply.h"
#include "caisson/guest/file_entry.h"
#include "caisson/guest/list_tree.h"
#include "caisson/guest/program_index_message.h"
#include "caisson/guest/search_files.h"
#include "caisson/os/fd.h"
#include "caisson/os/program_index.h"

namespace caisson::guest {
namespace {

// Opens what `path` leads to without waiting for a FIFO's other end and without getting a controlling terminal.
// `failed` gets the reply when it is no regular file.
os::Fd OpenRegular(const std::string& path, int flags, struct stat& info, proto::FileReply& failed) {
  os::Fd file(open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid() || fstat(file.get(), &info) != 0) {
    failed = FailedReply("open", errno);
    return {};
  }
  if (!S_ISREG(info.st_mode)) {
    failed = FailedReply("not_a_regular_file", S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
    return {};
  }
  return file;
}

proto::FileReply Read(const proto::ReadFile& request) {
  struct stat info{};
  proto::FileReply reply;
  const os::Fd file = OpenRegular(request.path(), O_RDONLY, info, reply);
  if (!file.valid()) return reply;
  reply.set_size(static_cast<std::uint64_t>(info.st_size));
  const std::size_t limit = std::min<std::uint64_t>(request.limit(), kMaxContent);
  std::string& content = *reply.mutable_content();
  while (content.size() < limit) {
    std::array<char, 1U << 16U> buffer;
    const ssize_t n = pread(file.get(), buffer.data(), std::min(buffer.size(), limit - content.size()),
                            static_cast<off_t>(request.offset() + content.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailedReply("read", errno);
    if (n == 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return reply;
}

int MakeParents(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0777) == 0 || errno == EEXIST) continue;
    const int error = errno;
    struct stat info{};
    // A parent that is there but whose own parent is not writable gives EACCES or EROFS rather than EEXIST.
    if (stat(path.substr(0, slash).c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return error;
  }
  return 0;
}

// What the last part of a path leads to when it is a symbolic link, whether or not that exists yet.
std::string Resolve(std::string path) {
  constexpr int kMaxLinks = 40;  // as the kernel
  for (int i = 0; i < kMaxLinks; ++i) {
    std::array<char, PATH_MAX> target{};
    const ssize_t n = readlink(path.c_str(), target.data(), target.size());
    if (n <= 0) break;
    const std::string text(target.data(), static_cast<std::size_t>(n));
    path = text[0] == '/' ? text : path.substr(0, path.rfind('/') + 1) + text;
  }
  return path;
}

proto::FileReply Append(const std::string& path, const std::string& content) {
  struct stat info{};
  proto::FileReply reply;
  const os::Fd file = OpenRegular(path, O_WRONLY | O_APPEND, info, reply);
  if (!file.valid()) return reply;
  if (const Status written = os::WriteAll(file.get(), content); !written) {
    return FailedReply("write", written.error().errno_value());
  }
  reply.set_wrote(proto::FileReply::APPENDED);
  return reply;
}

// Where files may be made and none removed, there is no renaming.
proto::FileReply Begin(const std::string& path, const std::string& content) {
  const os::Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.valid()) return FailedReply("create", errno);
  if (const Status written = os::WriteAll(file.get(), content); !written) {
    unlink(path.c_str());
    return FailedReply("write", written.error().errno_value());
  }
  proto::FileReply reply;
  reply.set_wrote(proto::FileReply::CREATED);
  return reply;
}

// Writes a new file beside the target and puts it in place by a rename: a reader sees the old content or the new.
proto::FileReply Replace(const std::string& path, const std::string& content, mode_t mode, unsigned rename_flags) {
  const std::string unfinished = path.substr(0, path.rfind('/') + 1) + ".caisson-" + std::to_string(getpid());
  os::Fd file(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return FailedReply("create", errno);
  const Status written = os::WriteAll(file.get(), content);
  int error = written ? 0 : written.error().errno_value();
  if (error == 0 && fchmod(file.get(), mode) != 0) error = errno;
  if (error == 0 && renameat2(AT_FDCWD, unfinished.c_str(), AT_FDCWD, path.c_str(), rename_flags) != 0) error = errno;
  if (error == 0) return {};
  unlink(unfinished.c_str());
  return FailedReply("write", error);
}

proto::FileReply Write(const proto::WriteFile& request, int in) {
  Result<std::string> content = os::ReadAll(in, kMaxContent);
  if (!content) return FailedReply("content", EFBIG);
  if (content->size() != request.size()) return FailedReply("content", EPIPE);
  const std::string path = Resolve(request.path());
  struct stat info{};
  const bool exists = lstat(path.c_str(), &info) == 0;
  if (exists && request.if_exists() == proto::WriteFile::FAIL) return FailedReply("exists", EEXIST);
  if (exists && !S_ISREG(info.st_mode))
    return FailedReply("not_a_regular_file", S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
  if (exists && request.if_exists() == proto::WriteFile::APPEND) return Append(path, *content);
  if (exists && access(path.c_str(), W_OK) != 0) return FailedReply("open", errno);  // the rename would not ask
  if (!exists) {
    if (const int error = MakeParents(path); error != 0) return FailedReply("parent", error);
  }
  if (!exists && request.if_exists() == proto::WriteFile::APPEND) return Begin(path, *content);
  const mode_t mode = exists ? info.st_mode & 0777 : 0644;
  proto::FileReply reply = Replace(path, *content, mode, exists ? 0 : RENAME_NOREPLACE);
  if (reply.error() == 0) reply.set_wrote(exists ? proto::FileReply::REPLACED : proto::FileReply::CREATED);
  return reply;
}

proto::FileReply List(const proto::ListDirectory& request) {
  const int fd = open(request.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fd < 0 ? nullptr : fdopendir(fd), closedir);
  if (listing == nullptr) return FailedReply("open", errno);
  proto::FileReply reply;
  const std::uint32_t limit = std::min(request.limit(), kMaxEntries);
  while (const dirent* entry = readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (static_cast<std::uint32_t>(reply.entries_size()) == limit) return FailedReply("too_many_entries", EOVERFLOW);
    (void)DescribeEntry(dirfd(listing.get()), entry->d_name, *reply.add_entries());
  }
  std::sort(reply.mutable_entries()->begin(), reply.mutable_entries()->end(),
            [](const proto::FileEntry& a, const proto::FileEntry& b) { return a.name() < b.name(); });
  return reply;
}

proto::FileReply RemoveEntry(const proto::Remove& request) {
  if (unlink(request.path().c_str()) == 0) return {};
  if (errno != EISDIR) return FailedReply("remove", errno);
  return rmdir(request.path().c_str()) == 0 ? proto::FileReply() : FailedReply("remove", errno);
}

proto::FileReply FollowPath(const proto::Follow& request) {
  const os::Fd place(open(request.path().c_str(), O_PATH | O_CLOEXEC));
  if (!place.valid()) return FailedReply("open", errno);
  proto::FileReply reply;
  reply.set_content(os::PathOf(place));
  return reply;
}

proto::FileReply FindPrograms() {
  const Result<os::ProgramIndex> index = os::IndexPrograms();
  if (!index) return FailedReply("find_programs", EOVERFLOW);
  proto::FileReply reply;
  reply.set_content(WriteProgramIndex(*index).SerializeAsString());
  return reply;
}

proto::FileReply Run(const proto::FileOperation& operation, int in) {
  if (operation.has_read()) return Read(operation.read());
  if (operation.has_write()) return Write(operation.write(), in);
  if (operation.has_list()) return List(operation.list());
  if (operation.has_remove()) return RemoveEntry(operation.remove());
  if (operation.has_follow()) return FollowPath(operation.follow());
  if (operation.has_find_programs()) return FindPrograms();
  if (operation.has_list_tree()) return ListTree(operation.list_tree());
  if (operation.has_search()) return SearchFiles(operation.search());
  return FailedReply("operation", EINVAL);
}

}  // namespace

void RunFileOperation(const proto::FileOperation& operation, int in, int out) {
  proto::FileReply reply = Run(operation, in);
  reply.set_complete(true);
  (void)os::WriteAll(out, reply.SerializeAsString());
}

}  // namespace caisson::guest
