#include "caisson/os/program_index.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "caisson/os/fd.h"

namespace caisson::os {
namespace {

// A tree that becomes the root of a child.
class Image {
 public:
  Image() : path_(testing::TempDir() + "caisson_index.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no scratch folder";
    Folder("proc");
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  Image& Folder(const std::string& name) {
    std::filesystem::create_directories(path_ + "/" + name);
    return *this;
  }
  Image& Link(const std::string& name, const std::string& target) {
    Folder(std::filesystem::path(name).parent_path());
    EXPECT_EQ(symlink(target.c_str(), (path_ + "/" + name).c_str()), 0) << name;
    return *this;
  }
  Image& File(const std::string& name, std::string_view content, mode_t mode = 0755) {
    Folder(std::filesystem::path(name).parent_path());
    const Fd file(open((path_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    EXPECT_TRUE(WriteAll(file.get(), content)) << name;
    return *this;
  }
  // A program: static, or with a loader.
  Image& Program(const std::string& name, const std::string& loader = {}, mode_t mode = 0755) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_EXEC;
    header.e_phoff = sizeof header;
    header.e_phnum = loader.empty() ? 0 : 1;
    Elf64_Phdr segment{};
    segment.p_type = PT_INTERP;
    segment.p_offset = sizeof header + sizeof segment;
    segment.p_filesz = loader.size() + 1;
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
    return File(name, bytes + loader + '\0', mode);
  }

 private:
  std::string path_;
};

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += " " + part;
  return text + "\n";
}

// One line for each thing that is in it.
std::string TextOf(const Result<ProgramIndex>& index) {
  if (!index) return "error: " + index.error().message() + "\n";
  std::string text;
  for (const auto& [name, entry] : index->by_name) {
    text += "name " + name + ": " + entry.path + " -> " + entry.real_path + " (" + entry.interpreter + " " +
            entry.argument + ")\n";
  }
  for (const auto& [folder, children] : index->split) text += "split " + folder + ":" + Joined(children);
  return text + "programs" + Joined(index->programs) + "loaders" + Joined(index->loaders) + "roots" +
         Joined(index->roots);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool EnterImage(const std::string& path) {
  return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("/proc", (path + "/proc").c_str(), nullptr, MS_BIND, nullptr) == 0 && chroot(path.c_str()) == 0;
}

// What IndexPrograms says in a process with this root, which stands in its folder `cwd`.
std::string IndexOf(const Image& image, const char* cwd = "/") {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    if (!EnterImage(image.path()) || chdir(cwd) != 0) _exit(2);
    _exit(WriteAll(writer.get(), TextOf(IndexPrograms())) ? 0 : 3);
  }
  writer.Reset();
  const auto text = ReadAll(reader.get(), std::size_t{1} << 20U);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << strerror(errno);
  return text ? *text : "no text";
}

class IndexProgramsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "another root needs CAP_SYS_CHROOT and CAP_SYS_ADMIN";
  }
  Image image_;
};

TEST_F(IndexProgramsTest, OfAnEmptyRootIsItsChildren) {
  image_.Folder("home").Link("bin", "usr/bin").File("file", "x");
  EXPECT_EQ(IndexOf(image_), "split /: file home proc\nprograms\nloaders\nroots\n");
}

TEST_F(IndexProgramsTest, HoldsProgramsAndWhatLeadsToThem) {
  image_.Program("usr/bin/ls", "/lib64/ld.so")
      .Program("usr/lib/ld-2.so")
      .Link("usr/lib/ld.so", "ld-2.so")
      .Link("lib64", "usr/lib")
      .Link("bin", "usr/bin")
      .Link("usr/bin/dir", "ls")
      .Link("usr/bin/ld", "/lib64/ld.so")
      .File("usr/share/doc/ls", "text");
  EXPECT_EQ(LinesOf(IndexOf(image_)), (std::vector<std::string>{
                                          "name dir: /usr/bin/dir -> /usr/bin/ls ( )",
                                          "name ld: /usr/bin/ld -> /usr/lib/ld-2.so ( )",
                                          "name ls: /usr/bin/ls -> /usr/bin/ls ( )",
                                          "split /: proc usr",
                                          "split /usr: bin lib share",
                                          "split /usr/bin: ls",
                                          "split /usr/lib: ld-2.so",
                                          "programs /usr/bin/ls /usr/lib/ld-2.so",
                                          "loaders /usr/lib/ld-2.so",
                                          "roots /usr",
                                      }));
}

TEST_F(IndexProgramsTest, KeepsTheOrderOfTheSearchPath) {
  image_.Program("usr/bin/x").Program("usr/local/bin/x").Program("sbin/x").Program("bin/x");
  std::vector<std::string> lines = LinesOf(IndexOf(image_));
  lines.resize(4);
  EXPECT_EQ(lines, (std::vector<std::string>{"name x: /usr/local/bin/x -> /usr/local/bin/x ( )",
                                             "name x: /usr/bin/x -> /usr/bin/x ( )", "name x: /bin/x -> /bin/x ( )",
                                             "name x: /sbin/x -> /sbin/x ( )"}));
}

TEST_F(IndexProgramsTest, FollowsWhatInterpretsAScript) {
  image_.Program("usr/bin/python3.11")
      .Link("usr/bin/python3", "python3.11")
      .Program("usr/bin/env")
      .File("usr/bin/pip", "#!/usr/bin/python3\n")
      .File("usr/bin/tool", "#!/usr/bin/env python3\n")
      .File("usr/bin/lost", "#!/usr/bin/perl\n")
      .File("usr/bin/text", "no script\n");
  const std::vector<std::string> lines = LinesOf(IndexOf(image_));
  const auto has = [&](const char* line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); };
  EXPECT_TRUE(has("name pip: /usr/bin/pip -> /usr/bin/pip (/usr/bin/python3.11 )"));
  EXPECT_TRUE(has("name tool: /usr/bin/tool -> /usr/bin/tool (/usr/bin/env python3)"));
  EXPECT_TRUE(has("programs /usr/bin/env /usr/bin/python3.11")) << "scripts are none";
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find("lost:"), std::string::npos) << line;
    EXPECT_EQ(line.find("text:"), std::string::npos) << line;
  }
}

// They lead elsewhere for each command, and for this process to files that are none of the image's programs.
TEST_F(IndexProgramsTest, FollowsNoRelativeInterpreter) {
  image_.Program("home/sh").Program("home/ld").File("usr/bin/script", "#!sh\n").Program("usr/bin/program", "ld");
  EXPECT_EQ(IndexOf(image_, "/home"),
            "name program: /usr/bin/program -> /usr/bin/program ( )\n"
            "split /: home proc usr\nsplit /usr: bin\nsplit /usr/bin: program script\n"
            "programs /usr/bin/program\nloaders\nroots /usr\n");
}

TEST_F(IndexProgramsTest, ListsWhatIsExecutedThroughALoaderToo) {
  image_.Program("usr/bin/closed", "", 0644).Program("opt/tool/libexec/part").Program("home/own");
  EXPECT_EQ(IndexOf(image_),
            "split /: home opt proc usr\nsplit /opt: tool\nsplit /opt/tool: libexec\nsplit /opt/tool/libexec: part\n"
            "split /usr: bin\nsplit /usr/bin: closed\n"
            "programs /opt/tool/libexec/part /usr/bin/closed\nloaders\nroots /usr /opt\n");
}

TEST_F(IndexProgramsTest, OpensNothingButFiles) {
  image_.Program("usr/bin/a").Link("usr/bin/loop", "loop").Link("usr/bin/up", "../..").Folder("usr/bin/folder");
  ASSERT_EQ(mkfifo((image_.path() + "/usr/bin/fifo").c_str(), 0755), 0);
  image_.Link("opt", "/usr");
  EXPECT_EQ(
      IndexOf(image_),
      "name a: /usr/bin/a -> /usr/bin/a ( )\n"
      "split /: proc usr\nsplit /usr: bin\nsplit /usr/bin: a fifo folder\nprograms /usr/bin/a\nloaders\nroots /usr\n");
}

TEST_F(IndexProgramsTest, RefusesATreeThatHasNoEnd) {
  std::string folder = "usr";
  for (int i = 0; i < 100; ++i) folder += "/d";
  image_.Program(folder + "/x");
  EXPECT_EQ(LinesOf(IndexOf(image_)).back(), "roots /usr");
  image_.Folder(folder + "/one_more");
  EXPECT_TRUE(IndexOf(image_).starts_with("error: too many files below /usr/d/d")) << IndexOf(image_);
}

}  // namespace
}  // namespace caisson::os
