#include "caisson/storage/host_image.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "caisson/os/fd.h"

namespace caisson::storage {
namespace {

namespace fs = std::filesystem;

class HostImageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "the image's folders belong to root";
    path_ = testing::TempDir() + "host_image_test.XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    images_.Reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    host_.Reset(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  HostImage Prepare() {
    Result<HostImage> image = PrepareHostImage(host_.get(), images_.get());
    EXPECT_TRUE(image) << image.error().message() << ": " << image.error().cause();
    return image ? *std::move(image) : HostImage{};
  }
  std::vector<std::string> Images() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }
  std::string Read(const std::string& path) const {
    const os::Fd file(open((path_ + "/" + path).c_str(), O_RDONLY | O_CLOEXEC));
    return os::ReadAll(file.get(), 1U << 20U).value_or("unreadable");
  }
  struct stat Stat(const std::string& path) const {
    struct stat info{};
    EXPECT_EQ(lstat((path_ + "/" + path).c_str(), &info), 0) << path;
    return info;
  }

  std::string path_;
  os::Fd images_;
  os::Fd host_;
};

TEST_F(HostImageTest, HasTheAgentAndNoSecretOfTheHost) {
  const std::string skeleton = Prepare().skeleton;
  EXPECT_NE(Read(skeleton + "/etc/passwd").find("agent:x:1000:1000:"), std::string::npos);
  EXPECT_NE(Read(skeleton + "/etc/group").find("agent:x:1000:"), std::string::npos);
  for (const char* secret : {"shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "ssh", "ssl/private", "machine-id",
                             "passwd-", "group-", "crontab", "hosts.equiv", "krb5.keytab"}) {
    EXPECT_FALSE(fs::exists(fs::symlink_status(path_ + "/" + skeleton + "/etc/" + secret))) << secret;
  }
  EXPECT_EQ(Read(skeleton + "/etc/hostname"), "sandbox\n");
  EXPECT_EQ(Read(skeleton + "/etc/resolv.conf"), "");
}

TEST_F(HostImageTest, HoldsOnlyWhatRootMadeAndEverybodyMayRead) {
  const std::string etc = path_ + "/" + Prepare().skeleton + "/etc";
  std::size_t entries = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(etc)) {
    ++entries;
    struct stat info{};
    ASSERT_EQ(lstat(entry.path().c_str(), &info), 0) << entry.path();
    EXPECT_TRUE(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode)) << entry.path();
    EXPECT_EQ(info.st_uid, 0U) << entry.path();
    EXPECT_EQ(info.st_gid, 0U) << entry.path();
    if (S_ISREG(info.st_mode)) {
      EXPECT_EQ(info.st_mode & 07777 & ~0111U, 0644U) << entry.path();
    }
    if (S_ISDIR(info.st_mode)) {
      EXPECT_EQ(info.st_mode & 07777, 0755U) << entry.path();
    }
  }
  EXPECT_GT(entries, 10U);
}

// A program whose settings /usr only links to does not start without them.
TEST_F(HostImageTest, HasWhatLinksOfUsrNameInEtc) {
  const std::string skeleton = path_ + "/" + Prepare().skeleton;
  for (const char* folder : {"/usr/lib", "/usr/share"}) {
    fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied);
    for (const fs::directory_entry& entry : entries) {
      if (entries.depth() >= 2) entries.disable_recursion_pending();
      if (!entry.is_symlink()) continue;
      const fs::path target = fs::read_symlink(entry.path());
      struct stat info{};
      if (!target.string().starts_with("/etc/") || stat(target.c_str(), &info) != 0) continue;
      // What not everybody may read, and the variables of the host's sessions, which hold passwords of proxies.
      if ((info.st_mode & 0004U) == 0 || target == "/etc/environment") continue;
      EXPECT_TRUE(fs::exists(fs::symlink_status(skeleton + target.string()))) << entry.path() << " -> " << target;
    }
  }
}

TEST_F(HostImageTest, HasTheFoldersOfASystem) {
  const mode_t previous = umask(0077);  // the caller's umask changes nothing
  const std::string skeleton = Prepare().skeleton;
  EXPECT_EQ(umask(previous), 0077U);
  EXPECT_EQ(Stat(skeleton).st_mode & 07777, 0755U);
  EXPECT_EQ(Stat(skeleton + "/tmp").st_mode & 07777, 01777U);
  EXPECT_EQ(Stat(skeleton + "/var/tmp").st_mode & 07777, 01777U);
  EXPECT_EQ(Stat(skeleton + "/root").st_mode & 07777, 0700U);
  for (const char* folder : {"/home/agent", "/home/agent/workspace"}) {
    EXPECT_EQ(Stat(skeleton + folder).st_uid, 1000U) << folder;
    EXPECT_EQ(Stat(skeleton + folder).st_gid, 1000U) << folder;
  }
  for (const char* folder : {"/dev", "/proc", "/sys", "/run", "/home"}) {
    EXPECT_TRUE(S_ISDIR(Stat(skeleton + folder).st_mode)) << folder;
    EXPECT_EQ(Stat(skeleton + folder).st_uid, 0U) << folder;
  }
}

TEST_F(HostImageTest, TakesProgramFoldersAsTheHostHasThem) {
  const HostImage image = Prepare();
  EXPECT_NE(std::find(image.folders.begin(), image.folders.end(), "usr"), image.folders.end());
  for (const std::string name : {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const fs::file_status on_host = fs::symlink_status("/" + name);
    const fs::path made = path_ + "/" + image.skeleton + "/" + name;
    const bool listed = std::find(image.folders.begin(), image.folders.end(), name) != image.folders.end();
    EXPECT_EQ(listed, on_host.type() == fs::file_type::directory) << name;
    EXPECT_EQ(fs::symlink_status(made).type(), on_host.type()) << name;
    if (fs::is_symlink(on_host)) {
      EXPECT_EQ(fs::read_symlink(made), fs::read_symlink("/" + name));
    } else if (listed) {
      EXPECT_TRUE(fs::is_empty(made)) << name;
    }
  }
}

TEST_F(HostImageTest, MakesNothingTheSecondTime) {
  const HostImage first = Prepare();
  const struct stat before = Stat(first.skeleton);
  const HostImage second = Prepare();
  EXPECT_EQ(second.skeleton, first.skeleton);
  EXPECT_EQ(second.folders, first.folders);
  const struct stat after = Stat(first.skeleton);
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  EXPECT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  EXPECT_EQ(Images(), std::vector<std::string>{first.skeleton});
}

TEST_F(HostImageTest, IsMadeOnceByManyProcessesAtATime) {
  constexpr int kProcesses = 6;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(PrepareHostImage(host_.get(), images_.get()) ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Images(), std::vector<std::string>{Prepare().skeleton});
}

TEST_F(HostImageTest, LeavesNothingWhenItFails) {
  // A host without /etc.
  fs::create_directory(path_ + "/host");
  fs::create_directory(path_ + "/images");
  const os::Fd host(openat(images_.get(), "host", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const os::Fd images(openat(images_.get(), "images", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(PrepareHostImage(host.get(), images.get()));
  EXPECT_TRUE(fs::is_empty(path_ + "/images"));
}

}  // namespace
}  // namespace caisson::storage
