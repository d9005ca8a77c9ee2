#include "caisson/storage/folder_copy.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <string_view>

#include "caisson/base/utf8.h"
#include "caisson/storage/copy_meter.h"
#include "caisson/storage/remove_tree.h"
#include "caisson/storage/tree_copier.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
// In the folder that a copy is made in.
constexpr char kTree[] = "tree";
constexpr char kLinks[] = "links";

Status CheckName(const std::string& name) {
  const bool is_name = !name.empty() && name != "." && name != ".." && name.size() <= NAME_MAX &&
                       name.find_first_of(std::string_view("/\0", 2)) == std::string::npos &&
                       !name.starts_with(kUnfinishedCopyPrefix);
  if (is_name) return {};
  return Fail(Error(Code::kInvalidArgument, Quoted(name) + " cannot be the name of a copy"));
}

Error NameIsTaken(const std::string& name) { return {Code::kAlreadyExists, Quoted(name) + " exists already"}; }

// The folder in which a copy is made, removed with all it holds unless the copy has left it.
class Workshop {
 public:
  explicit Workshop(const os::Fd& parent) : parent_(parent) {}
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    if (!name_.empty()) (void)RemoveTree(parent_.get(), name_.c_str());
  }

  Status Make() {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) return Fail(Failed());
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
    const std::string name = std::string(kUnfinishedCopyPrefix) + digits.data();
    if (mkdirat(parent_.get(), name.c_str(), 0700) != 0) return Fail(Failed());
    name_ = name;
    folder_.Reset(openat(parent_.get(), name.c_str(), kDirectory));
    if (!folder_.valid()) return Fail(Failed());
    // What the parent hands down would open the copy to others: group, set-group-id bit, access lists.
    for (const char* list : {"system.posix_acl_default", "system.posix_acl_access"}) {
      if (fremovexattr(folder_.get(), list) != 0 && errno != ENODATA && errno != EOPNOTSUPP) return Fail(Failed());
    }
    if (fchmod(folder_.get(), 0700) != 0) return Fail(Failed());
    return {};
  }

  Result<os::Fd> MakeFolder(const char* name) const {
    if (mkdirat(folder_.get(), name, 0700) != 0) return Fail(Failed());
    os::Fd made(openat(folder_.get(), name, kDirectory));
    if (!made.valid()) return Fail(Failed());
    return made;
  }

  // Only the tree is left afterwards. The first that can fail goes first, so that the copy appears last.
  Status HandOver(const std::string& name) {
    CAISSON_CHECK_OK(RemoveTree(folder_.get(), kLinks));
    if (renameat2(folder_.get(), kTree, parent_.get(), name.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno == EEXIST) return Fail(NameIsTaken(name));
    return Fail(Error::FromErrno(errno, "cannot give a copy its name"));
  }

 private:
  static Error Failed() { return Error::FromErrno(errno, "cannot make the folder of a copy"); }

  const os::Fd& parent_;
  std::string name_;
  os::Fd folder_;
};

}  // namespace

Result<CopySummary> CopyFolder(const os::Fd& source, const os::Fd& target_parent, const std::string& name,
                               const CopyOptions& options, const std::function<bool(const CopyProgress&)>& progress) {
  CAISSON_CHECK_OK(CheckName(name));
  struct stat info{};
  if (fstatat(target_parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return Fail(NameIsTaken(name));
  // Its own open file description: listing moves the offset.
  os::Fd from(openat(source.get(), ".", kDirectory));
  if (!from.valid()) return Fail(Error::FromErrno(errno, "cannot open the folder to copy"));

  Workshop workshop(target_parent);
  CAISSON_CHECK_OK(workshop.Make());
  CAISSON_TRY(os::Fd links, workshop.MakeFolder(kLinks));
  CAISSON_TRY(os::Fd tree, workshop.MakeFolder(kTree));
  if (fstat(tree.get(), &info) != 0) return Fail(Error::FromErrno(errno, "cannot examine the folder of a copy"));
  CopyMeter meter(options, progress);
  TreeCopier copier(std::move(links), options, meter, info);
  CAISSON_CHECK_OK(copier.Copy(std::move(from), std::move(tree)));
  CAISSON_CHECK_OK(meter.Finish());
  CAISSON_CHECK_OK(workshop.HandOver(name));
  return copier.summary();
}

}  // namespace caisson::storage
