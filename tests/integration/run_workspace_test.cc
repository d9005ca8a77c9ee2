#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/caisson_run.h"
#include "support/integration_test.h"
#include "support/temp_folder.h"

// `--workspace`: a project of the host in the three modes.

namespace caisson::support {
namespace {

namespace fs = std::filesystem;

class RunWorkspace : public IntegrationTest {
 protected:
  void SetUp() override {
    IntegrationTest::SetUp();
    if (IsSkipped()) return;
    MakeProject();
  }

  // A small C project of several files under git.
  void MakeProject() {
    WriteFile(project_ / "sum.h", "int sum(int a, int b);\n");
    WriteFile(project_ / "sum.c", "#include \"sum.h\"\nint sum(int a, int b) { return a + b; }\n");
    WriteFile(project_ / "main.c",
              "#include <stdio.h>\n#include \"sum.h\"\nint main(void) { printf(\"%d\\n\", sum(40, 2)); return 0; }\n");
    WriteFile(project_ / "Makefile",
              "all: program\nprogram: main.o sum.o\n\t$(CC) -o $@ $^\n%.o: %.c sum.h\n\t$(CC) -O1 -Wall -c -o $@ $<\n"
              "check: program\n\ttest \"$$(./program)\" = 42\n");
    Git("init -q");
    Git("add -A");
    Git("-c user.name=T -c user.email=t@example.org commit -q -m first");
  }

  std::string Git(const std::string& arguments) {
    const Ended ended =
        RunProgram({.argv = {"sh", "-c", "git -c safe.directory='*' " + arguments}, .directory = project_.path()});
    EXPECT_EQ(ended.status, 0) << "git " << arguments << ": " << ended.err;
    return ended.out;
  }

  // Every name below the project with what tells whether it was touched.
  std::string Fingerprint() const {
    return RunProgram({.argv = {"find", project_.path(), "-printf", "%P %y %m %U %G %s %T@ %C@ %i\\n"}}).out;
  }

  const TempFolder& project() const { return project_; }

 private:
  TempFolder project_;
};

TEST_F(RunWorkspace, ACopyBuildsAndLeavesTheFolderAsItWas) {
  const std::string before_run = Fingerprint();
  const Ended ended = RunScript({"--workspace", project().path(), "--timeout", "60s"},
                                "make -s check && ls && git status --porcelain && rm -rf .git sum.c && mv main.c x.c");
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("program"), std::string::npos);
  EXPECT_NE(ended.out.find("?? program"), std::string::npos) << ended.out;
  EXPECT_EQ(Fingerprint(), before_run);
  EXPECT_EQ(Git("status --porcelain"), "");
}

TEST_F(RunWorkspace, ReadWriteChangesTheFolder) {
  const Ended ended =
      RunScript({"--workspace", project().path() + ":rw", "--timeout", "60s"},
                "make -s check && echo '// end' >> main.c && rm sum.h && mkdir made && echo x > made/x");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.err.find("without undo"), std::string::npos) << "it must say so: " << ended.err;
  const std::string status = Git("status --porcelain");
  EXPECT_NE(status.find(" M main.c"), std::string::npos) << status;
  EXPECT_NE(status.find(" D sum.h"), std::string::npos) << status;
  EXPECT_EQ(RunProgram({.argv = {project() / "program"}}).out, "42\n");
  // What agent makes belongs to the folder's owner, not to a number of the sandbox.
  struct stat info{};
  ASSERT_EQ(stat((project() / "made/x").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0U);
  EXPECT_EQ(info.st_gid, 0U);
}

TEST_F(RunWorkspace, ReadOnlyRefusesEveryChange) {
  const std::string before_run = Fingerprint();
  const Ended ended = RunScript({"--workspace", project().path() + ":ro"}, R"(
cat sum.h
for act in 'echo x > new' 'echo x >> sum.h' 'rm sum.h' 'mv sum.h t' 'chmod 777 sum.h' 'mkdir d' 'ln sum.h t' 'touch .'; do
  if sh -c "$act" 2> /tmp/why; then echo "possible: $act"; fi
  grep -q 'Read-only file system' /tmp/why || { echo "another reason: $act"; cat /tmp/why; }
done
)");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out, "int sum(int a, int b);\n") << ended.err;
  EXPECT_EQ(Fingerprint(), before_run);
}

TEST_F(RunWorkspace, TheOwnerAppearsAsAgentAndOthersAsNobody) {
  ASSERT_EQ(RunProgram({.argv = {"chown", "-R", "12345:23456", project().path()}}).status, 0);
  ASSERT_EQ(chown((project() / "sum.c").c_str(), 777, 888), 0);
  ASSERT_EQ(chown((project() / "sum.h").c_str(), 0, 0), 0);
  for (const char* mode : {":copy", ":rw", ":ro"}) {
    const Ended ended =
        RunScript({"--quiet", "--workspace", project().path() + mode}, "stat -c '%n %u %g' . main.c sum.c sum.h");
    EXPECT_EQ(ended.out, ". 1000 1000\nmain.c 1000 1000\nsum.c 65534 65534\nsum.h 65534 65534\n") << mode << ended.err;
  }
  const Ended made = RunScript({"--quiet", "--workspace", project().path() + ":rw"}, "echo mine > mine");
  EXPECT_EQ(made.status, 0) << made.err;
  struct stat info{};
  ASSERT_EQ(stat((project() / "mine").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 12345U);
  EXPECT_EQ(info.st_gid, 23456U);
}

TEST_F(RunWorkspace, FilesOfOthersCanBeRenamedInACopy) {
  ASSERT_EQ(chown((project() / "sum.c").c_str(), 777, 888), 0);
  const Ended ended = RunScript({"--workspace", project().path()},
                                "mv sum.c renamed.c && cat renamed.c > /dev/null && rm renamed.c && ls");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out.find("sum.c"), std::string::npos) << ended.out;
  EXPECT_TRUE(fs::exists(project() / "sum.c"));
}

TEST_F(RunWorkspace, FoldersCanBeRenamedInACopy) {
  fs::create_directories(project() / "src/deep");
  WriteFile(project() / "src/deep/file", "content");
  const Ended ended =
      RunScript({"--workspace", project().path()}, "mv src source && cat source/deep/file && git mv sum.c t.c");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "content");
  EXPECT_TRUE(fs::exists(project() / "src/deep/file"));
}

TEST_F(RunWorkspace, RootOfTheSandboxIsNotTheOwner) {
  // Root inside is another user than the one who owns the folder, and has no right over other users' files.
  ASSERT_EQ(chmod((project() / "sum.c").c_str(), 0600), 0);
  const Ended ended =
      RunScript({"--user", "root", "--workspace", project().path()}, "cat sum.c; chown root main.c; id -u");
  EXPECT_EQ(ended.out, "0\n");
  EXPECT_NE(ended.err.find("Permission denied"), std::string::npos) << ended.err;
}

TEST_F(RunWorkspace, AVariableNamesTheFolderToo) {
  ProgramSpec spec = RunSpec({}, {"ls"});
  spec.env = {"CAISSON_WORKSPACE=" + project().path()};
  EXPECT_NE(RunProgram(spec).out.find("Makefile"), std::string::npos);
}

TEST_F(RunWorkspace, ARelativeFolderIsTheCallers) {
  ProgramSpec spec = RunSpec({"--workspace", "."}, {"ls"});
  spec.directory = project().path();
  EXPECT_NE(RunProgram(spec).out.find("Makefile"), std::string::npos);
}

TEST_F(RunWorkspace, AFolderOfModes0700IsUsable) {
  ASSERT_EQ(chmod(project().path().c_str(), 0700), 0);
  EXPECT_EQ(RunScript({"--workspace", project().path()}, "ls > list && cat list > /dev/null").status, 0);
}

}  // namespace
}  // namespace caisson::support
