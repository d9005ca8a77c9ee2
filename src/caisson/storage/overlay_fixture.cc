#include "caisson/storage/overlay_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace caisson::storage {

void OverlayFixture::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "mounting an overlay needs root";
  static const bool own_namespace =
      unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!own_namespace) GTEST_SKIP() << "no mount namespace of its own: " << std::strerror(errno);
  std::string name = testing::TempDir() + "caisson-overlay-XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  base_ = name;
  MakeFolders();
}

void OverlayFixture::TearDown() {
  if (base_.empty()) return;
  umount2(merged().c_str(), MNT_DETACH);
  umount2(base_.c_str(), MNT_DETACH);
  std::error_code error;
  std::filesystem::remove_all(base_, error);
}

void OverlayFixture::UseTmpfs() {
  ASSERT_EQ(mount("tmpfs", base_.c_str(), "tmpfs", 0, "mode=0755"), 0);
  MakeFolders();
}

void OverlayFixture::MakeFolders() const {
  for (const std::string& folder : {lower(), upper(), base_ + "/work", merged()}) mkdir(folder.c_str(), 0755);
}

void OverlayFixture::Empty() {
  umount2(merged().c_str(), 0);
  for (const std::string& folder : {lower(), upper(), base_ + "/work"}) {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }
  MakeFolders();
}

void OverlayFixture::MountOverlay() {
  const std::string options = "lowerdir=" + lower() + ",upperdir=" + upper() + ",workdir=" + base_ +
                              "/work,redirect_dir=on,metacopy=off,index=off,xino=off,volatile";
  ASSERT_EQ(mount("overlay", merged().c_str(), "overlay", 0, options.c_str()), 0) << std::strerror(errno);
}

os::Fd OverlayFixture::OpenFolder(const std::string& path) {
  return os::Fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void OverlayFixture::Write(const std::string& path, const std::string& content) { std::ofstream(path) << content; }

}  // namespace caisson::storage
