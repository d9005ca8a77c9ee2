#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "caisson/os/fd.h"
#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// Workspaces that a hostile or careless hand made: they are shown as they are, and lead nowhere.

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

class HostileWorkspace : public IntegrationTest {
 protected:
  const TempFolder& folder() const { return folder_; }
  Ended InCopy(const std::string& script) const { return RunScript({"--workspace", folder_.path()}, script); }

 private:
  TempFolder folder_;
};

TEST_F(HostileWorkspace, LinksLeadNowhereOutside) {
  const TempFolder outside;
  WriteFile(outside / "secret", "a secret of the host\n");
  fs::create_symlink("/", folder() / "root");
  fs::create_symlink("../..", folder() / "up");
  fs::create_symlink(outside / "secret", folder() / "secret");
  fs::create_symlink("/proc/1/root" + (outside / "secret"), folder() / "through_proc");
  fs::create_symlink("loop", folder() / "loop");
  for (const char* mode : {":copy", ":rw", ":ro"}) {
    const Ended ended = RunScript({"--quiet", "--workspace", folder().path() + mode},
                                  "cat secret through_proc root" + (outside / "secret") + " up/.." +
                                      (outside / "secret") + " loop; ls root/home; ls up; echo end");
    EXPECT_EQ(ended.out.find("a secret"), std::string::npos) << mode;
    EXPECT_NE(ended.out.find("agent\n"), std::string::npos) << "the sandbox's own root: " << ended.out;
    EXPECT_NE(ended.out.find("end\n"), std::string::npos);
  }
  // Writing through them changes nothing outside either.
  const Ended written = RunScript({"--quiet", "--workspace", folder().path() + ":rw"}, "echo x > secret; echo done");
  EXPECT_EQ(written.out, "done\n");
  EXPECT_EQ(ReadFile(outside / "secret"), "a secret of the host\n");
}

TEST_F(HostileWorkspace, AWorkspaceThatIsALinkIsTheFolderItNames) {
  fs::create_directory(folder() / "real");
  WriteFile(folder() / "real/file", "here");
  fs::create_symlink("real", folder() / "link");
  EXPECT_EQ(RunScript({"--workspace", folder() / "link"}, "cat file").out, "here");
}

TEST_F(HostileWorkspace, SpecialFilesAreShownAndHoldNothing) {
  ASSERT_EQ(mkfifo((folder() / "fifo").c_str(), 0666), 0);
  const os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder() / "socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(mknod((folder() / "disk").c_str(), S_IFBLK | 0666, makedev(7, 0)), 0);
  WriteFile(folder() / "locked", "nobody reads this", 0000);
  ASSERT_EQ(chown((folder() / "locked").c_str(), 777, 777), 0);
  const Ended ended = InCopy(
      "stat -c '%n %F' fifo socket disk locked; cat locked; cat disk; "
      "timeout 1 cat fifo; echo $?; rm -f fifo socket disk locked; ls");
  EXPECT_EQ(ended.out, "fifo fifo\nsocket socket\ndisk block special file\nlocked regular file\n124\n") << ended.err;
  EXPECT_NE(ended.err.find("locked: Permission denied"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("disk: Permission denied"), std::string::npos) << ended.err;
  EXPECT_TRUE(fs::exists(folder() / "fifo"));
}

TEST_F(HostileWorkspace, NamesOfEveryKindPass) {
  const std::vector<std::string> names = {"new\nline",
                                          "bad\xff\xfe"
                                          "bytes",
                                          std::string(255, 'n'),
                                          " ",
                                          "-rf",
                                          "esc\x1b[31m",
                                          "\xe2\x80\xae"
                                          "rtl"};
  for (const std::string& name : names) WriteFile(folder() / name, name);
  const Ended ended =
      InCopy("find . -type f -print0 | sort -z; for f in *; do cat -- \"$f\" > \"x$f\" 2> /dev/null || echo; done");
  for (const std::string& name : names) {
    EXPECT_NE(ended.out.find("./" + name + std::string(1, '\0')), std::string::npos) << name;
  }
  const StepResult json = RunScriptJson({"--workspace", folder().path()}, "ls");
  EXPECT_EQ(json.encoding, "base64") << "a name that is not UTF-8";
}

TEST_F(HostileWorkspace, AThousandFoldersDeep) {
  // Longer than any path may be: only step by step.
  const std::string script =
      "import os\nfor i in range(1000):\n    os.mkdir('deep_folder')\n    os.chdir('deep_folder')\nopen('end', "
      "'w').write('x')";
  ASSERT_EQ(RunProgram({.argv = {"python3", "-c", script}, .directory = folder().path()}).status, 0);
  const Ended ended = InCopy("find . -name end | wc -l; rm -rf deep_folder && ls | wc -l");
  EXPECT_EQ(ended.out, "1\n0\n") << ended.err;
  EXPECT_TRUE(fs::exists(folder() / "deep_folder"));
}

TEST_F(HostileWorkspace, FoldersMadeInsideAreRemovedHoweverDeep) {
  const Ended ended =
      RunCommand({"--storage", "directory"},
                 {"python3", "-c",
                  "import os\nfor i in range(1500):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\nprint('made')"});
  EXPECT_EQ(ended.out, "made\n") << ended.err;
}

TEST_F(HostileWorkspace, FilesMayVanishWhileItRuns) {
  WriteFile(folder() / "stays", "stays");
  std::atomic<bool> over{false};
  std::thread restless([&] {
    for (unsigned i = 0; !over; ++i) {
      const std::string name = folder() / ("file" + std::to_string(i % 50));
      const std::string other = folder() / ("renamed" + std::to_string(i % 50));
      if (const os::Fd file(open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)); file.valid()) {
        (void)!write(file.get(), "content", 7);
      }
      rename(name.c_str(), other.c_str());
      unlink(other.c_str());
    }
  });
  for (const char* mode : {":copy", ":rw", ":ro"}) {
    const Ended ended =
        RunScript({"--quiet", "--workspace", folder().path() + mode},
                  "for i in 1 2 3 4 5 6 7 8 9 10; do cat file* renamed* > /dev/null 2>&1; done; cat stays");
    EXPECT_EQ(ended.out, "stays") << mode << ended.err;
    EXPECT_EQ(ended.status, 0);
  }
  over = true;
  restless.join();
}

TEST_F(HostileWorkspace, SetUserIdBitsHaveNoEffect) {
  fs::copy_file("/usr/bin/id", folder() / "id");
  ASSERT_EQ(chmod((folder() / "id").c_str(), 06755), 0);
  EXPECT_EQ(InCopy("./id -u").out, "1000\n");
  const TempFolder other;
  fs::copy_file("/usr/bin/id", other / "id");
  ASSERT_EQ(chown((other / "id").c_str(), 777, 777), 0);
  ASSERT_EQ(chmod((other / "id").c_str(), 06755), 0);
  EXPECT_EQ(RunScript({"--workspace", other.path()}, "./id -u").out, "1000\n");
}

TEST_F(HostileWorkspace, AFolderThatIsGoneMeanwhileIsNoHang) {
  auto gone = std::make_unique<TempFolder>();
  ProgramSpec spec = RunSpec({"--workspace", gone->path()}, {"sh", "-c", "echo ready; read a; ls; echo end"});
  spec.input = Input::kPipe;
  HostProgram program(spec);
  ASSERT_TRUE(program.AwaitOutput("ready"));
  gone.reset();
  program.Write("go\n");
  const Ended ended = program.Wait(std::chrono::seconds(20));
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.out.find("end"), std::string::npos);
}

}  // namespace
}  // namespace caisson::support
