#include "caisson/guest/list_tree.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "caisson/guest/failed_reply.h"
#include "caisson/guest/file_entry.h"
#include "caisson/guest/folder_stream.h"
#include "caisson/guest/smallest_names.h"

namespace caisson::guest {
namespace {

class Walk {
 public:
  explicit Walk(const proto::ListTree& request) : depth_(request.depth()), limit_(request.limit()) {}

  // 0, or the errno of reading `folder`, whose entries have this depth.
  int List(DIR* folder, std::uint32_t depth) {
    SmallestNames smallest(Room());
    if (const int error = ReadNames(folder, smallest); error != 0) return error;
    for (const std::string& name : smallest.Take()) {
      if (Room() == 0) {
        reply_.set_truncated(true);
        return 0;
      }
      AddEntry(folder, name, depth);
    }
    if (smallest.left_out()) reply_.set_truncated(true);
    return 0;
  }

  proto::FileReply Take() { return std::move(reply_); }

 private:
  std::size_t Room() const { return limit_ - static_cast<std::size_t>(reply_.entries_size()); }

  int ReadNames(DIR* folder, SmallestNames& names) {
    // Without room for any, that there is one is all that can be told.
    while (!names.left_out() || Room() != 0) {
      errno = 0;
      const dirent* entry = readdir(folder);
      if (entry == nullptr) return errno;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (reply_.seen() == kMaxTreeSeen) {
        reply_.set_truncated(true);
        return 0;
      }
      reply_.set_seen(reply_.seen() + 1);
      names.Add(name);
    }
    return 0;
  }

  void AddEntry(DIR* folder, const std::string& name, std::uint32_t depth) {
    proto::FileEntry& entry = *reply_.add_entries();
    if (!DescribeEntry(dirfd(folder), name.c_str(), entry)) {
      reply_.mutable_entries()->RemoveLast();
      return;
    }
    entry.set_depth(depth);
    if (!S_ISDIR(entry.mode()) || depth == depth_) return;
    const FolderStream below = OpenFolder(dirfd(folder), name.c_str(), O_NOFOLLOW);
    if (below == nullptr || List(below.get(), depth + 1) != 0) entry.set_is_unreadable(true);
  }

  std::uint32_t depth_;
  std::uint32_t limit_;
  proto::FileReply reply_;
};

}  // namespace

proto::FileReply ListTree(const proto::ListTree& request) {
  if (request.depth() == 0 || request.depth() > kMaxTreeDepth) return FailedReply("depth", EINVAL);
  if (request.limit() == 0 || request.limit() > kMaxTreeEntries) return FailedReply("limit", EINVAL);
  const FolderStream top = OpenFolder(AT_FDCWD, request.path().c_str(), 0);
  if (top == nullptr) return FailedReply("open", errno);
  Walk walk(request);
  if (const int error = walk.List(top.get(), 1); error != 0) return FailedReply("read", error);
  return walk.Take();
}

}  // namespace caisson::guest
