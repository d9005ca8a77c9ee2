#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "support/caisson_run.h"
#include "support/image_folder.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// `--image DIR`: a root of somebody else's making, also of a hostile one.

namespace caisson::support {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

class ImageDirectory : public IntegrationTest {
 protected:
  void SetUp() override {
    IntegrationTest::SetUp();
    if (IsSkipped()) return;
    for (const char* program : {"/bin/sh", "/bin/cat", "/bin/ls", "/usr/bin/id", "/bin/mkdir"}) {
      AddProgram(image_.path(), program);
    }
    fs::create_directories(image_ / "etc");
    WriteFile(image_ / "etc/passwd", "root:x:0:0::/:/bin/sh");  // without an end of line
    WriteFile(image_ / "etc/group", "root:x:0:\n");
    WriteFile(image_ / "proof", "of the image\n");
  }

  const TempFolder& image() const { return image_; }
  Ended InImage(const std::string& script) const { return RunScript({"--image", image_.path()}, script); }
  std::string Fingerprint() const {
    return RunProgram({.argv = {"find", image_.path(), "-printf", "%P %y %m %U %G %s %T@ %C@ %i\\n"}}).out;
  }
  // Refused, or run without touching what the link leads to.
  void ExpectContained() const {
    const std::string mounts = ReadFile("/proc/self/mountinfo");
    const Ended ended = RunProgram(RunSpec({"--image", image_.path()}, {"/bin/ls", "/"}), seconds(20));
    EXPECT_TRUE(ended.status == 0 || ended.status == 125) << ended.status << ended.err;
    if (ended.status == 125) {
      const bool explained = ended.err.find("\n  fix: ") != std::string::npos ||
                             ended.err.find("did not start (chdir)") != std::string::npos;
      EXPECT_TRUE(explained) << ended.err;
    }
    EXPECT_EQ(ReadFile("/proc/self/mountinfo"), mounts);
  }

 private:
  TempFolder image_;
};

TEST_F(ImageDirectory, TheCommandLivesInTheImage) {
  const Ended ended = InImage("cat /proof; ls /usr/bin/python3 2> /dev/null; echo end");
  EXPECT_EQ(ended.out, "of the image\nend\n") << ended.err;
  EXPECT_EQ(ended.status, 0);
}

TEST_F(ImageDirectory, AgentExistsAndTheImageIsUnchanged) {
  const std::string before_run = Fingerprint();
  const Ended ended =
      InImage("id -u; pwd; cat /etc/passwd /etc/group; echo x > file; mkdir /tmp/t; echo y > /tmp/t/y; cat file");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "1000\n/home/agent/workspace\nroot:x:0:0::/:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n"
            "root:x:0:\nagent:x:1000:\nx\n");
  EXPECT_EQ(Fingerprint(), before_run);
}

TEST_F(ImageDirectory, AnImageWithUsersOfItsOwnKeepsThem) {
  WriteFile(image() / "etc/passwd", "root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n");
  EXPECT_EQ(InImage("cat /etc/passwd").out, ReadFile(image() / "etc/passwd"));
}

TEST_F(ImageDirectory, TheImageIsNotWrittenToByRootEither) {
  const std::string before_run = Fingerprint();
  const Ended ended =
      RunScript({"--image", image().path(), "--user", "root"}, "echo x > /proof; echo y > /new; cat /proof /new");
  EXPECT_EQ(ended.out, "x\ny\n") << ended.err;
  EXPECT_EQ(Fingerprint(), before_run);
}

TEST_F(ImageDirectory, AWorkspaceGoesWithAnImage) {
  const TempFolder work;
  WriteFile(work / "file", "content\n");
  const Ended ended = RunScript({"--image", image().path(), "--workspace", work.path()}, "cat file; echo x > new; ls");
  EXPECT_EQ(ended.out, "content\nfile\nnew\n") << ended.err;
  EXPECT_FALSE(fs::exists(work / "new"));
}

TEST_F(ImageDirectory, WithoutUsersItGetsThem) {
  fs::remove_all(image() / "etc");
  EXPECT_EQ(InImage("cat /etc/passwd").out, "agent:x:1000:1000:agent:/home/agent:/bin/sh\n");
}

TEST_F(ImageDirectory, MountPointsThatAreLinksLeadNowhere) {
  const TempFolder outside;
  WriteFile(outside / "file", "untouched");
  fs::remove_all(image() / "etc");
  for (const char* name : {"proc", "dev", "home", "sys", "tmp", "etc"}) {
    for (const std::string& target : {std::string("/etc"), outside.path(), std::string("../../..")}) {
      SCOPED_TRACE(name + (" to " + target));
      fs::create_symlink(target, image() / name);
      ExpectContained();
      fs::remove(image() / name);
    }
  }
  EXPECT_EQ(RunProgram({.argv = {"ls", outside.path()}}).out, "file\n");
  EXPECT_EQ(ReadFile(outside / "file"), "untouched");
  EXPECT_FALSE(fs::exists("/etc/agent"));
}

TEST_F(ImageDirectory, DeeperMountPointsThatAreLinksLeadNowhere) {
  const TempFolder outside;
  fs::create_directories(image() / "home");
  fs::create_symlink(outside.path(), image() / "home/agent");
  ExpectContained();
  fs::remove(image() / "home/agent");
  fs::create_directories(image() / "home/agent");
  fs::create_symlink(outside.path(), image() / "home/agent/workspace");
  ExpectContained();
  EXPECT_EQ(RunProgram({.argv = {"ls", "-A", outside.path()}}).out, "");
}

TEST_F(ImageDirectory, UserFilesThatAreNotFilesAreAnErrorAndNoHang) {
  const std::string passwd = image() / "etc/passwd";
  fs::remove(passwd);
  ASSERT_EQ(mkfifo(passwd.c_str(), 0644), 0);
  const Ended fifo = RunProgram(RunSpec({"--image", image().path()}, {"/bin/ls"}), seconds(20));
  EXPECT_EQ(fifo.status, 125) << fifo.out;
  EXPECT_NE(fifo.err.find("passwd"), std::string::npos) << fifo.err;

  fs::remove(passwd);
  fs::create_symlink("/proof", passwd);
  EXPECT_EQ(RunProgram(RunSpec({"--image", image().path()}, {"/bin/ls"}), seconds(20)).status, 125);
  EXPECT_EQ(ReadFile(image() / "proof"), "of the image\n");

  fs::remove(passwd);
  fs::create_directory(passwd);
  EXPECT_EQ(RunProgram(RunSpec({"--image", image().path()}, {"/bin/ls"}), seconds(20)).status, 125);

  fs::remove(passwd);
  WriteFile(passwd, std::string(8U << 20U, 'x'));
  EXPECT_EQ(RunProgram(RunSpec({"--image", image().path()}, {"/bin/ls"}), seconds(20)).status, 125);
}

TEST_F(ImageDirectory, MountPointsThatAreFilesAreAnError) {
  WriteFile(image() / "proc", "not a folder");
  const Ended ended = RunProgram(RunSpec({"--image", image().path()}, {"/bin/ls"}), seconds(20));
  EXPECT_EQ(ended.status, 125);
  EXPECT_NE(ended.err.find("\n  fix: "), std::string::npos) << ended.err;
}

TEST_F(ImageDirectory, DevicesOfTheImageDoNotWork) {
  ASSERT_EQ(mknod((image() / "kmem").c_str(), S_IFCHR | 0666, makedev(1, 5)), 0);
  const Ended ended = InImage("cat /kmem");
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("Permission denied"), std::string::npos) << ended.err;
}

TEST_F(ImageDirectory, SetUserIdProgramsOfTheImageGiveNothing) {
  ASSERT_EQ(chmod((image() / "usr/bin/id").c_str(), 06755), 0);
  EXPECT_EQ(InImage("id -u").out, "1000\n");
}

TEST_F(ImageDirectory, AnEmptyImageHasNoPrograms) {
  const TempFolder empty;
  EXPECT_EQ(RunCommand({"--image", empty.path()}, {"sh"}).status, 127);
}

TEST_F(ImageDirectory, TheHostsOwnRootIsAnImageToo) {
  // As mad as it is, nothing of the host may change by it.
  const Ended ended = RunScript({"--image", "/"}, "cat /etc/shadow; id -un; echo x > /etc/passwd");
  EXPECT_EQ(ended.out.find("root:"), std::string::npos);
  EXPECT_NE(ended.status, 0);
}

}  // namespace
}  // namespace caisson::support
