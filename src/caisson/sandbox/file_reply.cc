#include "caisson/sandbox/file_reply.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>

#include "caisson/base/path_text.h"
#include "caisson/base/utf8.h"

namespace caisson::sandbox {
namespace {

constexpr std::size_t kMostStepBytes = 64;
constexpr std::size_t kMostReasonBytes = 300;
constexpr std::size_t kMostNameBytes = 255;
constexpr std::size_t kMostTargetBytes = PATH_MAX;
constexpr std::uint64_t kMostSeen = 1'000'000;

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
  if (reply.step() == "pattern") {
    return Error(Code::kInvalidArgument, "the pattern is no regular expression")
        .Because(Printable(reply.content().substr(0, kMostReasonBytes)));
  }
  if (reply.step() == "glob") return Error(Code::kInvalidArgument, "the glob is too large");
  if (reply.step() == "not_searchable") {
    return Error(Code::kInvalidArgument, name + " is neither a regular file nor a folder").Detail("path", name);
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

// Where one is among the entries of a tree, which come depth first and in order.
class TreePlace {
 public:
  // False: after the entry before, this one is none that a tree has.
  bool MoveTo(const proto::FileEntry& entry) {
    const std::size_t depth = entry.depth();
    if (depth == 0 || depth > path_.size() + (may_enter_ ? 1 : 0)) return false;
    if (depth <= path_.size() && entry.name() <= path_[depth - 1]) return false;
    path_.resize(depth - 1);
    path_.push_back(entry.name());
    may_enter_ = S_ISDIR(entry.mode()) && !entry.is_unreadable();
    return true;
  }
  std::string Path() const {
    std::string path;
    for (const std::string& name : path_) path += (path.empty() ? "" : "/") + name;
    return path;
  }

 private:
  std::vector<std::string> path_;
  bool may_enter_ = true;
};

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

Result<FolderTree> TreeOf(const proto::FileReply& reply, std::uint32_t depth, std::uint32_t limit) {
  const auto impossible = [] { return Fail(Error(Code::kUnavailable, "the file operation gave no tree")); };
  const auto count = static_cast<std::uint64_t>(reply.entries_size());
  if (count > limit || reply.seen() < count || reply.seen() > kMostSeen) return impossible();
  FolderTree tree{.entries = {}, .truncated = reply.truncated(), .seen = reply.seen()};
  tree.entries.reserve(count);
  TreePlace place;
  for (const proto::FileEntry& entry : reply.entries()) {
    const bool is_long = entry.name().size() > kMostNameBytes || entry.link_target().size() > kMostTargetBytes;
    if (is_long || entry.depth() > depth || !place.MoveTo(entry)) return impossible();
    tree.entries.push_back({.path = place.Path(),
                            .type = TypeOf(entry.mode()),
                            .size_bytes = entry.size(),
                            .mode = entry.mode() & 07777,
                            .modified_unix_ms = entry.modified_ms(),
                            .link_target = entry.link_target(),
                            .is_unreadable = entry.is_unreadable()});
  }
  return tree;
}

}  // namespace caisson::sandbox
