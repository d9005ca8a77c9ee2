#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "caisson/sandbox/files.h"
#include "caisson/storage/change_watch.h"
#include "support/caisson_run.h"
#include "support/sandbox_test.h"
#include "support/storage_drivers.h"

// In a sandbox that stays, each command's result tells what changed between its start and its end, and nothing else.

namespace caisson::support {
namespace {

using sandbox::CommandResult;
using sandbox::CommandSpec;

constexpr std::string_view kWorkspace = "/home/agent/workspace/";

// "KIND PATH;" for each, the path below the workspace unless it is elsewhere.
std::string Text(const std::optional<plan::ChangeList>& list) {
  constexpr const char* kKinds[] = {"created", "modified", "deleted", "metadata"};
  if (!list) return "none told";
  std::string text;
  for (const plan::Change& change : list->changes) {
    const bool is_inside = change.path.starts_with(kWorkspace);
    text += std::string(kKinds[static_cast<int>(change.kind)]) + " " +
            (is_inside ? change.path.substr(kWorkspace.size()) : change.path) + ";";
  }
  return text + (list->truncated ? "truncated" : "");
}

// A shell's wait for a file.
std::string Await(const std::string& file) { return "until [ -e " + file + " ]; do sleep 0.01; done; "; }

// What goes on when the command has ended.
std::string InBackground(const std::string& script) { return "(" + script + ") > /dev/null 2>&1 < /dev/null &"; }

class LibraryChanges : public SandboxTest, public testing::WithParamInterface<StorageDriver> {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (const std::string why = WhyMissing(GetParam().storage); !why.empty()) GTEST_SKIP() << why;
    if (GetParam().storage != plan::Storage::kTmpfs) {
      sandbox::SandboxSpec spec;
      spec.storage = GetParam().storage;
      Replace(std::move(spec));
    }
  }

  // What the script changed; it must succeed.
  std::string Changes(const std::string& script) {
    const CommandResult result = RunIn(box(), Script(script));
    EXPECT_EQ(ExitCode(result), 0) << script << ": " << result.err.kept;
    return Text(result.files_changed);
  }

  // Makes 60 files in each of the folders d0, d1 and so on. After that the layer is not read whole any more, where the
  // kernel can tell what is touched.
  void MakeManyFiles(int folders = 20) {
    const CommandResult result = RunIn(box(), Program({"python3", "-c", R"(
import os, sys
for d in range(int(sys.argv[1])):
    os.mkdir(f'd{d}')
    for f in range(60):
        with open(f'd{d}/f{f}', 'w') as file: file.write(f'{d} {f}\n')
)",
                                                       std::to_string(folders)}));
    ASSERT_EQ(ExitCode(result), 0) << result.err.kept;
    ASSERT_TRUE(result.files_changed);
    EXPECT_TRUE(result.files_changed->truncated);
    // The report that finds them has the kernel watch from there on.
    EXPECT_EQ(Changes("true"), "");
    EXPECT_EQ(Changes("true"), "");
  }

  void RunHeldFile();
};

std::string DriverName(const testing::TestParamInfo<StorageDriver>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Drivers, LibraryChanges, testing::ValuesIn(kStorageDrivers), DriverName);

TEST_P(LibraryChanges, AreThoseOfOneCommand) {
  EXPECT_EQ(Changes("echo a > a"), "created a;");
  EXPECT_EQ(Changes("cat a"), "");
  EXPECT_EQ(Changes("echo b > b; echo aa > a"), "modified a;created b;");
  EXPECT_EQ(Changes("chmod 600 a; mv b c"), "metadata a;deleted b;created c;");
  EXPECT_EQ(Changes("rm a c"), "deleted a;deleted c;");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, OfAFolderThatComesAndGoes) {
  EXPECT_EQ(Changes("mkdir -p d/e; echo x > d/e/f"), "created d;created d/e;created d/e/f;");
  EXPECT_EQ(Changes("mv d g; echo y >> g/e/f"),
            "deleted d;deleted d/e;deleted d/e/f;created g;created g/e;created g/e/f;");
  EXPECT_EQ(Changes("mv g h; mv h g"), "");
  EXPECT_EQ(Changes("rm -r g/e; echo x > g/e"), "modified g/e;deleted g/e/f;");
  EXPECT_EQ(Changes("rm -r g"), "deleted g;deleted g/e;");
}

TEST_P(LibraryChanges, ByFileOperationsBelongToNoCommand) {
  sandbox::Files files(box());
  ASSERT_TRUE(files.Write("by_hand", "x"));
  EXPECT_EQ(Changes("true"), "");
  ASSERT_TRUE(files.Write("by_hand", "longer"));
  ASSERT_TRUE(files.Write("folder/below", "x"));
  EXPECT_EQ(Changes("echo x > by_command"), "created by_command;");
  ASSERT_TRUE(files.Write("by_command", "longer"));
  EXPECT_EQ(Changes("echo >> by_hand; rm -r folder"), "modified by_hand;deleted folder;deleted folder/below;");
}

TEST_P(LibraryChanges, OfACommandThatNobodyAskedAboutBelongToNoOther) {
  CommandSpec spec = Script("echo x > unasked");
  spec.report_changes = sandbox::ReportChanges::kNo;
  EXPECT_FALSE(RunIn(box(), spec).files_changed);
  EXPECT_EQ(Changes("true"), "");
  EXPECT_EQ(Changes("echo y >> unasked"), "modified unasked;");
}

TEST_P(LibraryChanges, OfADroppedCommandBelongToNoOther) {
  {
    auto command = box().Start(Script("echo x > dropped; sleep 1000"));
    ASSERT_TRUE(command);
    EXPECT_EQ(ExitCode(RunIn(box(), Script(Await("dropped")))), 0);
  }
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, OfAProgramThatDoesNotExistAreNone) {
  sandbox::Files files(box());
  ASSERT_TRUE(files.Write("by_hand", "x"));
  EXPECT_EQ(Text(RunIn(box(), Program({"/no/such"})).files_changed), "");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, OfATimedOutCommandAreToldAndEndWithIt) {
  CommandSpec spec = Script("echo x > early; (sleep 1000; echo y > late) & sleep 1000");
  spec.timeout = std::chrono::seconds(1);
  const CommandResult result = RunIn(box(), spec);
  EXPECT_TRUE(std::holds_alternative<sandbox::TimedOut>(result.outcome));
  EXPECT_EQ(Text(result.files_changed), "created early;");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, OfAnEarlierCommandsProcessAreOfTheCommandThatRuns) {
  EXPECT_EQ(Changes(InBackground(Await("go") + "echo x > by_background; touch over")), "");
  EXPECT_EQ(Changes("true"), "");
  EXPECT_EQ(Changes("touch go; " + Await("over")), "created by_background;created go;created over;");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, BetweenCommandsBelongToNone) {
  EXPECT_EQ(Changes(InBackground(Await("go") + "echo x > by_background; touch over")), "");
  sandbox::Files files(box());
  ASSERT_TRUE(files.Write("go", ""));
  while (!files.Read("over")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(Changes("cat by_background"), "");
}

TEST_P(LibraryChanges, OfCommandsThatOverlapAreOfBoth) {
  CommandResult first;
  CommandResult second;
  std::thread outer(
      [&] { first = RunIn(box(), Script("touch a1; " + Await("b1") + "touch a2; " + Await("c1") + "touch a3")); });
  EXPECT_EQ(ExitCode(RunIn(box(), Script(Await("a1")))), 0);
  std::thread inner([&] { second = RunIn(box(), Script("touch b1; " + Await("a2") + "touch b2")); });
  inner.join();
  EXPECT_EQ(Text(second.files_changed), "created a2;created b1;created b2;");
  const CommandResult third = RunIn(box(), Script("touch c1; " + Await("a3")));
  outer.join();
  EXPECT_EQ(Text(first.files_changed), "created a1;created a2;created a3;created b1;created b2;created c1;");
  EXPECT_EQ(Text(third.files_changed), "created a3;created c1;");
  EXPECT_EQ(Changes("true"), "");
}

// As many changes as a clock tick may hold, each at the start or the end of its command; the size stays the same.
TEST_P(LibraryChanges, InTheSameClockTickAsTheCommandsEnds) {
  EXPECT_EQ(Changes("echo 0 > other; echo 000 > f"), "created f;created other;");
  int wrong = 0;
  for (int i = 100; i < 400; ++i) {
    const CommandResult result = RunIn(box(), Program({"sh", "-c", "echo " + std::to_string(i) + " > f"}));
    if (Text(result.files_changed) != "modified f;" && ++wrong < 4) ADD_FAILURE() << i << Text(result.files_changed);
  }
  EXPECT_EQ(wrong, 0);
}

constexpr const char* kMapAndWrite =
    "python3 -c 'import mmap, sys\n"
    "with open(sys.argv[1], \"r+b\") as f, mmap.mmap(f.fileno(), 0) as m: m[0:1] = b\"X\"' ";

TEST_P(LibraryChanges, ThroughAMapping) {
  EXPECT_EQ(Changes("echo text > mapped"), "created mapped;");
  EXPECT_EQ(Changes(std::string(kMapAndWrite) + "mapped"), "modified mapped;");
  EXPECT_EQ(Changes("cat mapped"), "");
}

// Then the time of modification stays as it is on a tmpfs.
TEST_P(LibraryChanges, ThroughAMappingThatWasReadBefore) {
  if (GetParam().storage == plan::Storage::kTmpfs) {
    // It leaves no time behind, so that only the kernel's word tells: docs/kernel-support.md.
    const auto watch = storage::ChangeWatch::Start();
    if (!watch) GTEST_SKIP() << watch.error().message();
  }
  MakeManyFiles();
  EXPECT_EQ(Changes("echo text > mapped"), "created mapped;");
  EXPECT_EQ(Changes("python3 -c 'import mmap\n"
                    "with open(\"mapped\", \"r+b\") as f, mmap.mmap(f.fileno(), 0) as m:\n"
                    "  print(m[0:4])\n"
                    "  m[0:1] = b\"T\"'"),
            "modified mapped;");
  EXPECT_EQ(Changes("cat mapped"), "");
}

TEST_P(LibraryChanges, OfACommandThatNobodyAskedAboutAreOfTheCommandBesideIt) {
  MakeManyFiles();
  CommandSpec spec = Script("exec 3>> d1/f1; touch holds; " + Await("go") + "echo x >&3; touch wrote; sleep 1000");
  spec.report_changes = sandbox::ReportChanges::kNo;
  auto unasked = box().Start(spec);
  ASSERT_TRUE(unasked);
  EXPECT_EQ(ExitCode(RunIn(box(), Script(Await("holds")))), 0);
  EXPECT_EQ(Changes("touch go; " + Await("wrote")), "modified d1/f1;created go;created wrote;");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, OfDroppedCommandsThatHeldFilesBelongToNoOther) {
  MakeManyFiles();
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    {
      auto command = box().Start(Script("exec 3>> d1/f" + number + "; echo x >&3; touch holds" + number +
                                        "; python3 -c 'x = bytearray(1 << 27); input()'; sleep 1000"));
      ASSERT_TRUE(command);
      EXPECT_EQ(ExitCode(RunIn(box(), Script(Await("holds" + number)))), 0);
    }
    EXPECT_EQ(Changes("true"), "");
  }
}

TEST_P(LibraryChanges, InALayerWithManyFiles) {
  MakeManyFiles(167);
  EXPECT_EQ(Changes("echo x > new; mkdir d7/sub; echo y > d7/sub/new"),
            "created d7/sub;created d7/sub/new;created new;");
  EXPECT_EQ(Changes("echo x >> d3/f3; echo '4 5' > d4/f4; chmod 600 d5/f5; touch d6/f6"),
            "modified d3/f3;modified d4/f4;metadata d5/f5;modified d6/f6;");
  EXPECT_EQ(Changes("rm d3/f3 new; rm -r d7/sub"), "deleted d3/f3;deleted d7/sub;deleted d7/sub/new;deleted new;");
  EXPECT_EQ(Changes("mv d4/f4 moved; mv d4/f5 d4/f6"), "deleted d4/f4;deleted d4/f5;modified d4/f6;created moved;");
  EXPECT_EQ(Changes("ln -s d1 link; chmod 700 d9; echo x > gone; rm gone"), "metadata d9;created link;");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, ThroughMappingsAndSecondNamesInALayerWithManyFiles) {
  MakeManyFiles();
  EXPECT_EQ(Changes("ln d1/f1 second"), "created second;");
  EXPECT_EQ(Changes("echo x >> second"), "modified d1/f1;modified second;");
  EXPECT_EQ(Changes("rm d1/f1"), "deleted d1/f1;");
  EXPECT_EQ(Changes(std::string(kMapAndWrite) + "d2/f2"), "modified d2/f2;");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, OfARenamedFolderInALayerWithManyFiles) {
  MakeManyFiles();
  const CommandResult result = RunIn(box(), Script("mv d8 e8; echo x >> e8/f0"));
  ASSERT_TRUE(result.files_changed);
  EXPECT_EQ(result.files_changed->changes.size(), 122U);
  EXPECT_FALSE(result.files_changed->truncated);
  EXPECT_TRUE(Text(result.files_changed).starts_with("deleted d8;deleted d8/f0;"));
  EXPECT_NE(Text(result.files_changed).find("created e8;created e8/f0;"), std::string::npos);
  EXPECT_EQ(Changes("echo x >> e8/f1; rm e8/f2; mv d10/f0 e8/f3"),
            "deleted d10/f0;modified e8/f1;deleted e8/f2;modified e8/f3;");
  EXPECT_EQ(Changes("mv e8 d8; mv d8/f1 d8/f5; mv d8 e8"), "deleted e8/f1;modified e8/f5;");
}

TEST_P(LibraryChanges, AreExactAgainAfterMoreThanTheKernelCanTell) {
  MakeManyFiles();
  const std::string many = "mkdir many; seq -f many/%g 20000 | xargs touch";
  const CommandResult result = RunIn(box(), Script(many));
  EXPECT_EQ(ExitCode(result), 0) << result.err.kept;
  ASSERT_TRUE(result.files_changed);
  EXPECT_TRUE(result.files_changed->truncated);
  EXPECT_EQ(result.files_changed->changes.size(), plan::kMaxChanges);
  EXPECT_EQ(Changes("echo x > one_more; rm many/20000; echo x > many/17"),
            "modified many/17;deleted many/20000;created one_more;");
  EXPECT_EQ(Changes("true"), "");
}

// A process that holds a file open writes it while a later command runs.
void LibraryChanges::RunHeldFile() {
  EXPECT_EQ(Changes("mkdir -p a/b/c; echo 1 > a/b/c/file; " +
                    InBackground("exec 3>> a/b/c/file; touch holds; " + Await("go") + "echo 2 >&3; touch wrote; " +
                                 Await("go_on") + "echo 3 >&3; touch wrote_again; sleep 1000") +
                    " " + Await("holds")),
            "created a;created a/b;created a/b/c;created a/b/c/file;created holds;");
  EXPECT_EQ(Changes("true"), "");
  EXPECT_EQ(Changes("touch go; " + Await("wrote")), "modified a/b/c/file;created go;created wrote;");
  EXPECT_EQ(Changes("true"), "");
  EXPECT_EQ(Changes("mv a z"),
            "deleted a;deleted a/b;deleted a/b/c;deleted a/b/c/file;created z;created z/b;"
            "created z/b/c;created z/b/c/file;");
  EXPECT_EQ(Changes("touch go_on; " + Await("wrote_again")), "created go_on;created wrote_again;modified z/b/c/file;");
  EXPECT_EQ(Changes("true"), "");
}

TEST_P(LibraryChanges, OfAFileThatAnEarlierCommandsProcessHolds) { RunHeldFile(); }

TEST_P(LibraryChanges, OfAHeldFileInALayerWithManyFiles) {
  MakeManyFiles();
  RunHeldFile();
}

}  // namespace
}  // namespace caisson::support
