#include "caisson/storage/folder_copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "caisson/storage/folder_copy_fixture.h"
#include "caisson/storage/scratch_store.h"

namespace caisson::storage {
namespace {

constexpr std::uint64_t kBlock = 512;

// ---- what is kept

TEST_F(FolderCopyTest, KeepsAnEmptyFolder) {
  EXPECT_EQ(chmod((scratch_.path() + "/source").c_str(), 01751), 0);
  EXPECT_EQ(chown((scratch_.path() + "/source").c_str(), 1234, 5678), 0);
  SetTime("source", {1'000'000'000, 123'456'789});
  const CopySummary summary = CopyWhole();
  EXPECT_EQ(summary.files + summary.folders + summary.changed, 0U);
}

TEST_F(FolderCopyTest, KeepsModeOwnerTimeAttributesAndContent) {
  Make("source/folder");
  Make("source/folder/below");
  Write("source/folder/script", "#!/bin/sh\n");
  Write("source/folder/below/large", std::string(3'000'001, 'x'));
  Write("source/empty", "");
  Write("source/closed", "secret");
  SetAttribute("source/folder/script", "user.origin", std::string("a\0b", 3));
  SetAttribute("source/folder/script", "user.empty", "");
  SetAttribute("source/folder", "user.note", std::string(1000, 'n'));
  const int folder = scratch_.fd().get();
  EXPECT_EQ(fchownat(folder, "source/folder/script", 1000, 4'000'000'000U, 0), 0);
  EXPECT_EQ(fchownat(folder, "source/folder", 7, 8, 0), 0);
  EXPECT_EQ(fchmodat(folder, "source/folder/script", 0755, 0), 0);
  EXPECT_EQ(fchmodat(folder, "source/closed", 0, 0), 0);
  EXPECT_EQ(fchmodat(folder, "source/folder/below", 0500, 0), 0);
  EXPECT_EQ(fchmodat(folder, "source/folder", 01777, 0), 0);
  SetTime("source/folder/script", {1, 999'999'999});
  SetTime("source/folder/below", {-5, 1});
  SetTime("source/folder", {1'234'567'890, 7});
  const CopySummary summary = CopyWhole();
  EXPECT_EQ(summary.files, 4U);
  EXPECT_EQ(summary.folders, 2U);
  EXPECT_GE(summary.bytes.value, 3'000'017U);
  EXPECT_EQ(summary.left_out_attributes, 0U);
}

TEST_F(FolderCopyTest, KeepsOddNames) {
  for (const std::string& name :
       {std::string("new\nline"), std::string("\xff\xfe\x80"), std::string("-rf"), std::string(" "), std::string("..."),
        std::string("tree"), std::string("links"), std::string(".copying.1"), std::string(255, 'n')}) {
    Make("source/" + name);
    Write("source/" + name + "/" + name, name);
  }
  EXPECT_EQ(CopyWhole().files, 9U);
}

TEST_F(FolderCopyTest, KeepsSymbolicLinksAsTheyAre) {
  const int folder = scratch_.fd().get();
  for (const auto& [target, name] :
       {std::pair("/etc", "etc"), std::pair("/etc/shadow", "file"), std::pair("..", "up"),
        std::pair("nowhere", "broken"), std::pair("loop", "loop"), std::pair("\xff\n", "odd")}) {
    EXPECT_EQ(symlinkat(target, folder, (std::string("source/") + name).c_str()), 0);
  }
  EXPECT_EQ(symlinkat(std::string(PATH_MAX - 1, 'l').c_str(), folder, "source/long"), 0);
  EXPECT_EQ(fchownat(folder, "source/etc", 12, 34, AT_SYMLINK_NOFOLLOW), 0);
  SetTime("source/etc", {12, 34});
  const CopySummary summary = CopyWhole();
  EXPECT_EQ(summary.symbolic_links, 7U);
  EXPECT_EQ(summary.files + summary.folders, 0U);
}

TEST_F(FolderCopyTest, KeepsHardLinksWithinTheTree) {
  const int folder = scratch_.fd().get();
  Make("source/a");
  Make("source/b");
  Write("source/a/first", "one file");
  EXPECT_EQ(linkat(folder, "source/a/first", folder, "source/b/second", 0), 0);
  EXPECT_EQ(linkat(folder, "source/a/first", folder, "source/third", 0), 0);
  EXPECT_EQ(symlinkat("target", folder, "source/a/symbolic"), 0);
  EXPECT_EQ(linkat(folder, "source/a/symbolic", folder, "source/b/symbolic", 0), 0);
  EXPECT_EQ(mkfifoat(folder, "source/a/fifo", 0600), 0);
  EXPECT_EQ(linkat(folder, "source/a/fifo", folder, "source/fifo", 0), 0);
  Write("outside", "outside");
  EXPECT_EQ(linkat(folder, "outside", folder, "source/from_outside", 0), 0);
  const auto expected = DescribeTree(scratch_.fd(), "source");
  const auto copied = Copy();
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(DescribeTree(scratch_.fd(), "copy"), expected);
  EXPECT_EQ(copied->hard_links, 4U);
  EXPECT_EQ(copied->separated_links, 0U);
  EXPECT_EQ(Stat("copy/a/first").st_nlink, 3U);
  EXPECT_EQ(Stat("copy/from_outside").st_nlink, 1U);
  EXPECT_NE(Stat("copy/a/first").st_ino, Stat("source/a/first").st_ino);
}

TEST_F(FolderCopyTest, CopiesFilesOfSeveralNamesApartBeyondTheirLimit) {
  const int folder = scratch_.fd().get();
  for (const char* name : {"source/a", "source/b"}) {
    Write(name, name);
    EXPECT_EQ(linkat(folder, name, folder, (std::string(name) + "2").c_str(), 0), 0);
  }
  const auto copied = Copy({.max_linked_files = 1});
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(copied->hard_links, 1U);
  EXPECT_EQ(copied->separated_links, 2U);
  for (const char* name : {"a", "a2"}) EXPECT_EQ(Read(std::string("copy/") + name), "source/a");
  for (const char* name : {"b", "b2"}) EXPECT_EQ(Read(std::string("copy/") + name), "source/b");
  EXPECT_EQ(Stat("copy/a").st_nlink + Stat("copy/b").st_nlink, 3U);
}

TEST_F(FolderCopyTest, KeepsHoles) {
  const std::string path = scratch_.path() + "/source/sparse";
  Write("source/sparse", "start");
  const os::Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(pwrite(file.get(), "middle", 6, off_t{1} << 40), 6);
  ASSERT_EQ(ftruncate(file.get(), off_t{3} << 40), 0);
  ASSERT_EQ(fsync(file.get()), 0);
  Write("source/hole", "");
  ASSERT_EQ(truncate((scratch_.path() + "/source/hole").c_str(), 1 << 20), 0);
  const auto copied = Copy({.max_bytes = MiB(1)});
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_LT(copied->bytes.value, 100'000U);
  const os::Fd copy(open((scratch_.path() + "/copy/sparse").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(fsync(copy.get()), 0);
  EXPECT_EQ(Stat("copy/sparse").st_size, off_t{3} << 40);
  EXPECT_LE(Stat("copy/sparse").st_blocks, Stat("source/sparse").st_blocks + 16);
  std::array<char, 6> middle{};
  ASSERT_EQ(pread(copy.get(), middle.data(), middle.size(), off_t{1} << 40), 6);
  EXPECT_EQ(std::string(middle.data(), middle.size()), "middle");
  ASSERT_EQ(pread(copy.get(), middle.data(), middle.size(), 0), 6);
  EXPECT_EQ(std::string(middle.data(), middle.size()), std::string("start\0", 6));
  EXPECT_EQ(Stat("copy/hole").st_size, 1 << 20);
  EXPECT_EQ(Stat("copy/hole").st_blocks, 0);
}

// ---- what is not kept

TEST_F(FolderCopyTest, DropsSetIdBitsAndAccessLists) {
  const int folder = scratch_.fd().get();
  Write("source/setuid", "x");
  Make("source/setgid");
  EXPECT_EQ(fchmodat(folder, "source/setuid", 06755, 0), 0);
  EXPECT_EQ(fchmodat(folder, "source/setgid", 02775, 0), 0);
  Write("source/listed", "x");
  // user::rw- user:1000:rw- group::--- mask::rw- other::---, as acl(5) and linux/posix_acl_xattr.h lay it out.
  const std::string list(
      "\2\0\0\0"
      "\1\0\6\0\xff\xff\xff\xff"
      "\2\0\6\0\xe8\3\0\0"
      "\4\0\0\0\xff\xff\xff\xff"
      "\20\0\6\0\xff\xff\xff\xff"
      "\40\0\0\0\xff\xff\xff\xff",
      44);
  const bool has_lists =
      setxattr((scratch_.path() + "/source/listed").c_str(), "system.posix_acl_access", list.data(), 44, 0) == 0;
  const auto copied = Copy();
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(copied->dropped_set_id, 2U);
  EXPECT_EQ(Stat("copy/setuid").st_mode & 07777U, 0755U);
  EXPECT_EQ(Stat("copy/setgid").st_mode & 07777U, 0775U);
  if (!has_lists) GTEST_SKIP() << "this file system has no access lists";
  EXPECT_EQ(Stat("source/listed").st_mode & 07777U, 0660U);
  EXPECT_EQ(Stat("copy/listed").st_mode & 07777U, 0600U);
  EXPECT_EQ(copied->left_out_attributes, 1U);
}

TEST_F(FolderCopyTest, IsNotOpenedByWhatItsParentHandsDown) {
  EXPECT_EQ(fchown(scratch_.fd().get(), 0, 4321), 0);
  EXPECT_EQ(fchmod(scratch_.fd().get(), 02777), 0);
  Make("source/folder");
  Write("source/folder/file", "x");
  EXPECT_EQ(fchownat(scratch_.fd().get(), "source", 0, 0, 0), 0);
  EXPECT_EQ(fchmodat(scratch_.fd().get(), "source", 0755, 0), 0);
  EXPECT_EQ(fchmodat(scratch_.fd().get(), "source/folder", 0755, 0), 0);
  CopyWhole();
  EXPECT_EQ(Stat("copy").st_gid, 0U);
  EXPECT_EQ(Stat("copy/folder").st_mode & 07777U, 0755U);
}

TEST_F(FolderCopyTest, MakesFifosAndLeavesOutDevicesAndSockets) {
  const int folder = scratch_.fd().get();
  Make("source/a");
  EXPECT_EQ(mkfifoat(folder, "source/a/fifo", 0640), 0);
  SetTime("source/a/fifo", {77, 88});
  EXPECT_EQ(mknodat(folder, "source/a/socket", S_IFSOCK | 0600, 0), 0);
  const bool has_device = mknodat(folder, "source/device", S_IFCHR | 0600, makedev(1, 3)) == 0;
  const auto copied = Copy();
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(copied->fifos, 1U);
  EXPECT_EQ(copied->left_out, has_device ? 2U : 1U);
  const std::vector<std::string>& paths = copied->left_out_paths;
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "a/socket"), 1);
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "device"), has_device ? 1 : 0);
  EXPECT_EQ(Stat("copy/a/fifo").st_mode, S_IFIFO | 0640U);
  EXPECT_EQ(Stat("copy/a/fifo").st_mtim.tv_nsec, 88);
  EXPECT_FALSE(scratch_.Has("copy/a/socket"));
  EXPECT_FALSE(scratch_.Has("copy/device"));
}

TEST_F(FolderCopyTest, ListsOnlyTheFirstOfWhatIsLeftOut) {
  for (int i = 0; i < 150; ++i) {
    EXPECT_EQ(mknodat(scratch_.fd().get(), ("source/" + std::to_string(i)).c_str(), S_IFSOCK | 0600, 0), 0);
  }
  const auto copied = Copy();
  ASSERT_TRUE(copied) << TextOf(copied.error());
  EXPECT_EQ(copied->left_out, 150U);
  EXPECT_EQ(copied->left_out_paths.size(), 100U);
}

// ---- names and limits

TEST_F(FolderCopyTest, RefusesWhatIsNoName) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("/"),
        std::string("a\0b", 3), std::string(256, 'n'), std::string(".copying.x")}) {
    const auto copied = CopyFolder(scratch_.Open("source"), scratch_.fd(), name, {}, {});
    ASSERT_FALSE(copied) << name;
    EXPECT_EQ(copied.error().code(), Code::kInvalidArgument) << name;
  }
  ExpectNothingIsLeft();
  const auto copied = CopyFolder(scratch_.Open("source"), scratch_.fd(), std::string(255, 'n'), {}, {});
  EXPECT_TRUE(copied);
}

TEST_F(FolderCopyTest, LeavesWhatHasTheNameAlone) {
  Write("copy", "mine");
  auto copied = Copy();
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kAlreadyExists);
  EXPECT_EQ(unlinkat(scratch_.fd().get(), "copy", 0), 0);
  // Also what gets it at the last moment.
  copied = Copy({}, [&](const CopyProgress&) {
    Make("copy");
    return true;
  });
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kAlreadyExists);
  EXPECT_EQ(NamesBesideSource(), std::vector<std::string>{"copy"});
}

TEST_F(FolderCopyTest, RefusesACopyIntoItself) {
  Make("source/inner");
  const auto copied = CopyFolder(scratch_.Open("source"), scratch_.Open("source/inner"), "copy", {}, {});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(DescribeTree(scratch_.fd(), "source").size(), 2U);
}

TEST_F(FolderCopyTest, HoldsToItsLimits) {
  for (int i = 0; i < 10; ++i) Write("source/" + std::to_string(i), std::string(10'000, 'x'));
  auto copied = Copy({.max_entries = 9});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kResourceExhausted);
  EXPECT_NE(copied.error().message().find("9 entries"), std::string::npos) << copied.error().message();
  ExpectNothingIsLeft();
  copied = Copy({.max_bytes = KiB(64)});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kResourceExhausted);
  EXPECT_NE(copied.error().message().find("64KiB"), std::string::npos) << copied.error().message();
  ExpectNothingIsLeft();
  copied = Copy({.max_bytes = Bytes{100'000}, .max_entries = 10});
  EXPECT_TRUE(copied);
}

TEST_F(FolderCopyTest, TellsItsProgress) {
  for (int i = 0; i < 10; ++i) Write("source/" + std::to_string(i), std::string(10'000, 'x'));
  std::vector<CopyProgress> calls;
  auto copied = Copy({.progress_interval = std::chrono::milliseconds(0)}, [&](const CopyProgress& progress) {
    calls.push_back(progress);
    return true;
  });
  ASSERT_TRUE(copied);
  ASSERT_GE(calls.size(), 20U);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_GE(calls[i].entries, calls[i - 1].entries);
    EXPECT_GE(calls[i].bytes, calls[i - 1].bytes);
  }
  EXPECT_EQ(calls.back().entries, 10U);
  EXPECT_EQ(calls.back().bytes.value, 100'000U);
  EXPECT_EQ(copied->bytes.value, 100'000U);
}

TEST_F(FolderCopyTest, CopiesManyEntriesOfOneFolder) {
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "source/a_name_of_some_length_" + std::to_string(i);
    if (i % 10 == 0) {
      Make(name);
    } else {
      Write(name, std::to_string(i));
    }
  }
  const CopySummary summary = CopyWhole();
  EXPECT_EQ(summary.files, 9'000U);
  EXPECT_EQ(summary.folders, 1'000U);
}

// ---- shared data

using SharedFolderCopyTest = ScratchStoreTest;

TEST_F(SharedFolderCopyTest, SharesDataWhereTheFileSystemCan) {
  const auto store = Open();
  ASSERT_TRUE(store) << Text(store.error());
  const os::Fd& parent = store->layers();
  ASSERT_EQ(mkdirat(parent.get(), "source", 0755), 0);
  const os::Fd source(openat(parent.get(), "source", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const os::Fd file(openat(source.get(), "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0640));
  // With the store of 256 MiB, a second copy in full would not fit.
  const std::string piece(1 << 20, 'p');
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(os::WriteAll(file.get(), piece));
  const os::Fd small(openat(source.get(), "small", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(os::WriteAll(small.get(), "tiny"));
  ASSERT_EQ(fsync(file.get()), 0);
  const os::Fd sparse(openat(source.get(), "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(ftruncate(sparse.get(), off_t{1} << 40), 0);
  for (const char* name : {"one", "two", "three", "four"}) {
    const auto copied = CopyFolder(source, parent, name, {}, {});
    ASSERT_TRUE(copied) << Text(copied.error());
    EXPECT_EQ(copied->files, 3U);
    EXPECT_GE(copied->shared_files, 2U);
    EXPECT_GE(copied->bytes, MiB(100));
    EXPECT_LT(copied->bytes, MiB(101));
  }
  struct stat info{};
  ASSERT_EQ(fstatat(parent.get(), "four/large", &info, 0), 0);
  EXPECT_EQ(info.st_size, 100 << 20);
  EXPECT_EQ(info.st_blocks * static_cast<off_t>(kBlock), 100 << 20);
  ASSERT_EQ(fstatat(parent.get(), "four/sparse", &info, 0), 0);
  EXPECT_EQ(info.st_size, off_t{1} << 40);
  EXPECT_EQ(info.st_blocks, 0);
  const auto copied = CopyFolder(source, parent, "five", {.max_bytes = MiB(99)}, {});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), Code::kResourceExhausted);
}

TEST_F(SharedFolderCopyTest, CountsAttributesThatDoNotFit) {
  const auto store = Open();
  ASSERT_TRUE(store) << Text(store.error());
  const os::Fd& parent = store->layers();
  ASSERT_EQ(mkdirat(parent.get(), "source", 0755), 0);
  const os::Fd source(openat(parent.get(), "source", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const os::Fd file(openat(source.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0640));
  constexpr int kMade = 150;
  const std::string value(2000, 'v');
  for (int i = 0; i < kMade; ++i) {
    ASSERT_EQ(fsetxattr(file.get(), ("user." + std::to_string(i)).c_str(), value.data(), value.size(), 0), 0) << i;
  }
  const auto kept = [](const os::Fd& folder) {
    const os::Fd copy(openat(folder.get(), "copy/file", O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> names{};
    return std::count(names.begin(), names.begin() + flistxattr(copy.get(), names.data(), names.size()), '\0');
  };
  // 256 KiB are kept of one file.
  const auto copied = CopyFolder(source, parent, "copy", {}, {});
  ASSERT_TRUE(copied) << Text(copied.error());
  EXPECT_EQ(kept(parent), 132);
  EXPECT_EQ(copied->left_out_attributes, kMade - 132U);
  // Another file system takes fewer, or none.
  const auto elsewhere = CopyFolder(source, data_, "copy", {}, {});
  ASSERT_TRUE(elsewhere) << Text(elsewhere.error());
  EXPECT_LE(kept(data_), 132);
  EXPECT_EQ(elsewhere->left_out_attributes, static_cast<std::uint64_t>(kMade - kept(data_)));
}

}  // namespace
}  // namespace caisson::storage
