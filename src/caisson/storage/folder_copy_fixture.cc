#include "caisson/storage/folder_copy_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <set>
#include <string_view>
#include <utility>

#include "caisson/os/folder_lock.h"

namespace caisson::storage {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

std::string Attributes(const os::Fd& file) {
  std::array<char, 4096> names{};
  const ssize_t size = flistxattr(file.get(), names.data(), names.size());
  std::set<std::string> lines;
  for (const char* name = names.data(); name < names.data() + std::max<ssize_t>(size, 0);) {
    std::string value(XATTR_SIZE_MAX, '\0');
    const ssize_t length = fgetxattr(file.get(), name, value.data(), value.size());
    value.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    lines.insert(std::string(name) + "=" + value);
    name += std::string_view(name).size() + 1;
  }
  std::string text;
  for (const std::string& line : lines) text += " " + line;
  return text;
}

std::string Content(const os::Fd& file) {
  auto content = os::ReadAll(file.get(), 64U << 20U);
  return content ? std::to_string(content->size()) + ":" + std::to_string(std::hash<std::string>{}(*content)) : "?";
}

class Description {
 public:
  void Add(const os::Fd& parent, const std::string& name, const std::string& path) {
    struct stat info{};
    ASSERT_EQ(fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW), 0) << path;
    std::string line = std::to_string(info.st_mode) + " " + std::to_string(info.st_uid) + ":" +
                       std::to_string(info.st_gid) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
                       std::to_string(info.st_mtim.tv_nsec);
    if (!S_ISDIR(info.st_mode)) line += " is " + first_names_.emplace(info.st_ino, path).first->second;
    if (S_ISLNK(info.st_mode)) {
      std::array<char, PATH_MAX> target{};
      EXPECT_GE(readlinkat(parent.get(), name.c_str(), target.data(), target.size() - 1), 0);
      line += std::string(" to ") + target.data();
    }
    if (S_ISREG(info.st_mode)) {
      const os::Fd file(openat(parent.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      line += Attributes(file) + " " + Content(file);
    }
    if (S_ISDIR(info.st_mode)) {
      const os::Fd folder(openat(parent.get(), name.c_str(), kDirectory));
      line += Attributes(folder);
      for (const std::string& below : os::NamesIn(folder))
        Add(folder, below, path.empty() ? below : path + "/" + below);
    }
    lines_[path] = line;
  }

  std::map<std::string, std::string> Take() { return std::move(lines_); }

 private:
  std::map<std::string, std::string> lines_;
  std::map<ino_t, std::string> first_names_;
};

}  // namespace

std::map<std::string, std::string> DescribeTree(const os::Fd& parent, const std::string& name) {
  Description description;
  description.Add(parent, name, "");
  return description.Take();
}

std::string TextOf(const Error& error) { return error.message() + ": " + error.cause(); }

void FolderCopyTest::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files to others";
  Make("source");
}

Result<CopySummary> FolderCopyTest::Copy(const CopyOptions& options,
                                         const std::function<bool(const CopyProgress&)>& progress) const {
  return CopyFolder(scratch_.Open("source"), scratch_.fd(), "copy", options, progress);
}

CopySummary FolderCopyTest::CopyWhole() const {
  const auto expected = DescribeTree(scratch_.fd(), "source");
  const Result<CopySummary> copied = Copy();
  if (!copied) {
    ADD_FAILURE() << TextOf(copied.error());
    return {};
  }
  EXPECT_EQ(DescribeTree(scratch_.fd(), "copy"), expected);
  EXPECT_EQ(NamesBesideSource(), std::vector<std::string>{"copy"});
  return *copied;
}

void FolderCopyTest::ExpectNothingIsLeft() const { EXPECT_EQ(NamesBesideSource(), std::vector<std::string>{}); }

std::vector<std::string> FolderCopyTest::NamesBesideSource() const {
  std::vector<std::string> names = os::NamesIn(scratch_.fd());
  std::erase(names, "source");
  return names;
}

void FolderCopyTest::Make(const std::string& path) const {
  EXPECT_EQ(mkdirat(scratch_.fd().get(), path.c_str(), 0755), 0) << path;
}

void FolderCopyTest::Write(const std::string& path, const std::string& content) const {
  const os::Fd file(
      openat(scratch_.fd().get(), path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  EXPECT_TRUE(file.valid() && os::WriteAll(file.get(), content)) << path;
}

std::string FolderCopyTest::Read(const std::string& path) const {
  const os::Fd file(openat(scratch_.fd().get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return os::ReadAll(file.get(), 64U << 20U).value_or("?");
}

struct stat FolderCopyTest::Stat(const std::string& path) const {
  struct stat info{};
  EXPECT_EQ(fstatat(scratch_.fd().get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW), 0) << path;
  return info;
}

void FolderCopyTest::SetTime(const std::string& path, timespec time) const {
  const std::array<timespec, 2> times = {time, time};
  EXPECT_EQ(utimensat(scratch_.fd().get(), path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0) << path;
}

void FolderCopyTest::SetAttribute(const std::string& path, const char* name, const std::string& value) const {
  EXPECT_EQ(lsetxattr((scratch_.path() + "/" + path).c_str(), name, value.data(), value.size(), 0), 0) << path;
}

bool FolderCopyTest::HasOwnMounts() {
  static const bool own_mounts =
      unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return own_mounts;
}

}  // namespace caisson::storage
