#include "caisson/sandbox/file_reply.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "caisson/base/path_text.h"
#include "caisson/base/utf8.h"

namespace caisson::sandbox {
namespace {

constexpr std::size_t kMostStepBytes = 64;

bool IsPossible(const proto::FileReply& reply) {
  return reply.complete() && reply.error() >= 0 &&
         std::all_of(reply.entries().begin(), reply.entries().end(),
                     [](const proto::FileEntry& entry) { return IsEntryName(entry.name()); });
}

Error Explain(const proto::FileReply& reply, std::string_view path) {
  const std::string name(path);
  if (reply.step() == "not_a_regular_file") {
    return Error(Code::kInvalidArgument, name + " is not a regular file").Detail("path", name);
  }
  if (reply.step() == "too_many_entries") {
    return Error(Code::kResourceExhausted, name + " has more than 10,000 entries").Detail("path", name);
  }
  if (reply.error() == ENOTEMPTY) {
    return Error(Code::kConflict, name + " is a directory with something in it").Detail("path", name);
  }
  const std::string step = reply.step().empty() ? "use" : Printable(reply.step().substr(0, kMostStepBytes));
  return Error::FromErrno(reply.error(), "cannot " + step + " " + name).Detail("path", name);
}

FileType TypeOf(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return FileType::kDirectory;
    case S_IFLNK:
      return FileType::kSymlink;
    case S_IFIFO:
      return FileType::kFifo;
    case S_IFSOCK:
      return FileType::kSocket;
    case S_IFREG:
      return FileType::kFile;
    default:
      return FileType::kDevice;
  }
}

}  // namespace

Result<proto::FileReply> ReadFileReply(const CapturedOutput& output, std::string_view path) {
  proto::FileReply reply;
  if (output.truncated || !reply.ParseFromString(output.kept) || !IsPossible(reply)) {
    return Fail(Error(Code::kUnavailable, "the file operation ended without an answer").Retryable());
  }
  if (reply.error() != 0) return Fail(Explain(reply, path));
  return reply;
}

std::vector<FileEntry> EntriesOf(const proto::FileReply& reply) {
  std::vector<FileEntry> entries;
  for (const proto::FileEntry& entry : reply.entries()) {
    entries.push_back({.name = entry.name(),
                       .type = TypeOf(entry.mode()),
                       .size_bytes = entry.size(),
                       .mode = entry.mode() & 07777,
                       .modified_unix_ms = entry.modified_ms(),
                       .link_target = entry.link_target()});
  }
  return entries;
}

}  // namespace caisson::sandbox
